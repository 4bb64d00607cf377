// The second thread of every rank: blocks in, raw numbers out. The main thread keeps MPI, journal and signals.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "parallel/TensorGroup.hpp"
#include "probes/Probe.hpp"
#include "query/Engine.hpp"
#include "results/Journal.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::run {

/// One scored block, or why it could not be scored.
struct Scored {
  results::BlockId id;
  std::vector<std::byte> payload;  ///< results::RawBlock as bytes
  double seconds = 0;
  std::string failure;  ///< empty: scored
  base::ExitCode failure_code = base::ExitCode::error;
};

/// What the thread works with. Shared, because a thread that is stuck in a long block is left behind at the end.
struct ScorerParts {
  std::shared_ptr<const probes::Probe> probe;
  base::Digest fingerprint{};
  std::function<std::unique_ptr<query::Engine>()> make_engine;  ///< in the thread, whose tensor threads it sets; empty:
                                                                ///< the blocks are computed without a model
  /// Several ranks that hold one model: rank 0 of the group tells the others what it scores; they score the same blocks
  /// in step, because their slices are needed, until nothing follows, and drop the numbers. Null: one rank.
  std::shared_ptr<parallel::TensorGroup> group;
  std::chrono::seconds block_limit{0};  ///< 0: none
};

/// The block that a thread scores, for another thread that watches it.
class InWork {
 public:
  void begin(std::uint64_t block);
  void has_prompt(const query::Query& first);
  void end();
  /// "block 7 has been in work for 31 s (...), its first prompt: '...'" if it is over the limit; else "". To be asked
  /// often: time in which nobody asked does not count, for the process was stopped then.
  std::string overdue(std::chrono::seconds limit);

 private:
  mutable std::mutex mutex_;
  std::optional<std::uint64_t> block_;
  std::string prompt_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

/// first, answer, next, ..., fold; without an engine (null) fold alone. Does not throw: a failure is part of the
/// answer. `fingerprint` (of the settings) enters the block's key.
Scored score_block(const probes::Probe& probe, const base::Digest& fingerprint, query::Engine* engine,
                   const sweep::Block& block, InWork& in_work);

class Scorer {
 public:
  explicit Scorer(ScorerParts parts);
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;
  /// Ends the thread; one that does not come back within a second is abandoned.
  ~Scorer();

  /// Throws what making the engine threw.
  void wait_until_ready();
  void submit(const sweep::Block& block);
  std::optional<Scored> poll();
  /// Sleeps until something is ready to be polled, at most `longest`.
  void wait(std::chrono::microseconds longest);
  /// Forgets a block that waits. Returns whether it waited; one in work goes on.
  bool take_back(std::uint64_t block);
  /// Forgets the blocks that wait; the one in work goes on, also where an injected fault holds it.
  void drop_waiting();
  /// Nothing waits, nothing is in work (results may still be there to poll).
  bool idle() const;
  /// Why the block in work takes too long (execution.block_limit_s); "" if it does not.
  std::string overdue() const;
  /// Whether a thread of this process was left behind: then the process must end without destroying statics.
  static bool any_abandoned();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stereosweep::run
