// What scores the blocks of a rank beside its main thread, which keeps MPI, journal and signals: blocks in, raw numbers
// out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// What the threads work with. Shared, because a thread that is stuck in a long block is left behind at the end.
struct ScorerParts {
  std::shared_ptr<const probes::Probe> probe;
  base::Digest fingerprint{};
  std::function<std::unique_ptr<query::Engine>()> make_engine;  ///< in the thread that runs, whose tensor threads it
                                                                ///< sets; empty: the blocks need no model
  /// Several ranks that hold one model, and are given the same blocks in one order: they score them in step, because
  /// their slices are needed, and all but rank 0 of the group drop the numbers. Null: one rank.
  std::shared_ptr<parallel::TensorGroup> group;
  std::chrono::seconds block_limit{0};  ///< 0: none
};

class BlockWork;

/// The blocks that threads work on, for another thread that watches them.
class InWork {
 public:
  /// "block 7 has been in work for 31 s (...), its first prompt: '...'" of one that is over the limit; else "". What a
  /// block waits for a thread does not count. To be asked often: time in which nobody asked does not count either, for
  /// the process was stopped then.
  std::string overdue(std::chrono::seconds limit);

 private:
  friend class BlockWork;
  std::mutex mutex_;
  std::vector<BlockWork*> works_;  ///< the oldest first
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

/// One block from its prompts to its raw numbers: plan, then run, then finish, each once, on any threads. None of them
/// throws: a failure is part of the answer, and the steps behind it do nothing.
class BlockWork {
 public:
  /// Everything but the block is borrowed. `engine` null: the block is computed without a model, in `finish`.
  BlockWork(const probes::Probe& probe, const query::Engine* engine, const sweep::Block& block, InWork& in_work);
  BlockWork(const BlockWork&) = delete;
  BlockWork& operator=(const BlockWork&) = delete;
  ~BlockWork();

  const sweep::Block& block() const { return block_; }
  /// Prompts and the engine's plan.
  void plan();
  /// On the engine's thread: runs the plan; of a probe that asks again all rounds but the end of the last one.
  void run();
  /// Reads the last answers and folds all. `fingerprint` (of the settings) enters the block's key.
  Scored finish(const base::Digest& fingerprint);
  void fail(const std::string& cause, base::ExitCode code);
  /// Empty: nothing has failed.
  const std::string& failure() const { return scored_.failure; }

 private:
  friend class InWork;
  using Clock = std::chrono::steady_clock;
  void timed(auto&& step);
  void plan_round();
  void read_round();

  const probes::Probe& probe_;
  const query::Engine* engine_;
  sweep::Block block_;
  InWork& in_work_;
  probes::Transcript transcript_;
  std::optional<probes::Round> round_;       ///< the call's questions
  std::unique_ptr<query::Session> session_;  ///< of a probe that asks again, where the engine has such
  std::unique_ptr<query::Call> call_;
  Scored scored_;
  // under the mutex of `in_work_`
  std::string prompt_;  ///< the first; empty: not yet
  Clock::duration spent_{0};
  std::optional<Clock::time_point> start_;  ///< of the clock; nothing: it stands still, since the block waits
};

/// Plans, runs and finishes; nobody watches. For its numbers: the key is of no settings. Does not throw.
Scored score_block(const probes::Probe& probe, const query::Engine& engine, const sweep::Block& block);

/// While one block runs the next ones are planned and the last one is finished, in threads of their own.
class Scorer {
 public:
  explicit Scorer(ScorerParts parts);
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;
  /// Ends the threads; those that do not come back within a second are abandoned.
  ~Scorer();

  /// Throws what making the engine threw.
  void wait_until_ready();
  void submit(const sweep::Block& block);
  /// A block that is ready; else, once, the failure that one in work takes too long (execution.block_limit_s): not on a
  /// rank that scores in step, since the one that leads it sees the same. To be asked often (InWork).
  std::optional<Scored> poll();
  /// Sleeps until something is ready to be polled, at most `longest`.
  void wait(std::chrono::microseconds longest);
  /// Forgets a block that does not run yet, and that no other rank scores in step. Returns whether it did not.
  bool take_back(std::uint64_t block);
  /// Forgets the blocks that do not run yet; a rank that scores in step forgets those that the one which leads it does
  /// not begin. The others go on, also where an injected fault holds them.
  void stop();
  /// Nothing waits, and nothing is in work (results may still be there to poll).
  bool idle() const;
  /// Whether threads of this process were left behind: then the process must end without destroying statics.
  static bool any_abandoned();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stereosweep::run
