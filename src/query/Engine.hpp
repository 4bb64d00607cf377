// Whoever answers queries. Implementations live in the room engine; probes and runs see only this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::query {

/// What answering cost, summed since construction; also of a block or a run.
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
  EngineCounts& operator-=(const EngineCounts& other) {
    for (const auto field : fields()) {
      this->*field -= other.*field;
    }
    return *this;
  }
};

/// What a model predicts: tokens behind masks (Fill), or the next token (Continue, Generate).
enum class Prediction { masked, next };

/// Answers are a function of the span's content and the engine's settings alone: not of earlier calls, not of ranks.
/// One thread calls at a time.
class Engine {
 public:
  virtual ~Engine() = default;
  /// One answer per query, in order. Throws base::Error only where the engine itself fails.
  virtual std::vector<Answer> answer(std::span<const Query> queries) = 0;
  virtual EngineCounts counts() const = 0;
  /// Why no query that needs this prediction can be answered, whatever its text; nothing where it can. A run asks once,
  /// so that a checkpoint without a head is refused before the first block.
  virtual std::optional<std::string> lacks(Prediction /*asked*/) const { return std::nullopt; }
};

}  // namespace stereosweep::query
