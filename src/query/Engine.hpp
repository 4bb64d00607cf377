// Whoever answers queries. Implementations live in the room engine; probes and runs see only this.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::query {

/// What answering cost: of a call, a block or a run.
struct EngineCounts {
  std::uint64_t queries = 0;
  std::uint64_t distinct_sequences = 0;  ///< forward inputs after deduplication
  std::uint64_t distinct_tokens = 0;
  std::uint64_t head_rows = 0;  ///< rows projected onto the vocabulary
  /// All of them; files have them in this order.
  static constexpr auto fields() {
    return std::array{&EngineCounts::queries, &EngineCounts::distinct_sequences, &EngineCounts::distinct_tokens,
                      &EngineCounts::head_rows};
  }

  bool operator==(const EngineCounts&) const = default;
  EngineCounts& operator+=(const EngineCounts& other) {
    for (const auto field : fields()) {
      this->*field += other.*field;
    }
    return *this;
  }
};

/// What a model predicts: tokens behind masks (Fill), or the next token (Continue, Generate).
enum class Prediction { masked, next };

/// One set of queries on its way to its answers. Planned when it was made; then it is run, and then read, once each.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;
  /// Computes; a GPU may still be at work when it returns. Calls of one engine run one at a time, on one thread.
  virtual void run() = 0;
  /// Waits for the GPU: one answer per query, in order. After run(); on any thread, also while another call runs.
  virtual std::vector<Answer> read() = 0;
  /// What it cost; after read().
  virtual EngineCounts cost() const = 0;
};

/// Calls of which each may go on where the ones before ended, as the turns of a conversation do. Answers are a function
/// of the queries of all its calls so far. The calls are made, run and read one after the other.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;
  /// As Engine::plan; the session must outlive the call.
  virtual std::unique_ptr<Call> plan(std::span<const Query> queries) = 0;
};

/// Answers are a function of the span's content and the engine's settings alone: not of earlier calls, not of ranks.
/// Throws base::Error only where the engine itself fails.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;
  /// Everything that needs no tensor: tokens, distinct inputs, batches. On any thread, also while a call runs. Engine
  /// and queries must outlive the call.
  virtual std::unique_ptr<Call> plan(std::span<const Query> queries) const = 0;
  /// Nothing: what ran before helps no later call; `plan` serves.
  virtual std::unique_ptr<Session> begin_session() const { return nullptr; }
  /// Plans, runs and reads: one answer per query, in order.
  std::vector<Answer> answer(std::span<const Query> queries) {
    const auto call = plan(queries);
    call->run();
    auto answers = call->read();
    counts_ += call->cost();
    return answers;
  }
  /// What `answer` has cost, summed since construction.
  const EngineCounts& counts() const { return counts_; }
  /// Why no query that needs this prediction can be answered, whatever its text; nothing where it can. A run asks once,
  /// so that a checkpoint without a head is refused before the first block.
  virtual std::optional<std::string> lacks(Prediction /*asked*/) const { return std::nullopt; }

 private:
  EngineCounts counts_;
};

}  // namespace stereosweep::query
