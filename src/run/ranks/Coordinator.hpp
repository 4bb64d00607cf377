// Rank zero's main thread while blocks are scored: grants blocks, receives results, keeps the status, watches signals
// and silent ranks; a second thread journals the results. No collective; a result does not depend on which rank scored
// a block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/Messenger.hpp"
#include "run/Run.hpp"
#include "run/directory/Lease.hpp"
#include "run/ranks/Messages.hpp"
#include "run/ranks/Progress.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::run {

/// What a run still has to do: 1 bit per block.
class BlocksLeft {
 public:
  explicit BlocksLeft(std::uint64_t num_blocks) : done_(num_blocks, false), size_(num_blocks) {}
  /// Of a run that asks in rounds: these, and no others that are not done.
  void want_only(const std::vector<std::uint64_t>& blocks);
  bool is_wanted(std::uint64_t block) const { return left_out_.empty() || !left_out_.at(block); }
  /// Returns whether it was new.
  bool mark_done(std::uint64_t block);
  bool is_done(std::uint64_t block) const { return done_.at(block); }
  /// A block that was put back, else the next in canonical order that was neither done nor returned before; the number
  /// of all blocks if there is none.
  std::uint64_t next();
  /// Whether `next` would return one.
  bool any_left();
  /// A block that `next` returned, to be returned again.
  void put_back(std::uint64_t block) { put_back_.push_back(block); }
  /// Those that are wanted or done.
  std::uint64_t size() const { return size_; }
  std::uint64_t num_done() const { return num_done_; }

 private:
  std::vector<bool> done_;
  std::vector<bool> left_out_;  ///< empty: none is
  std::uint64_t size_;
  std::vector<std::uint64_t> put_back_;
  std::uint64_t num_done_ = 0;
  std::uint64_t cursor_ = 0;
};

/// Borrowed for one run, whose ranks `signals` knows.
struct CoordinatorParts {
  parallel::Messenger& messenger;
  Scorer& scorer;
  const probes::Probe& probe;
  results::JournalWriter& journal;
  const Lease& lease;
  StatusFile& status;
  const SignalWatcher& signals;
  std::vector<int> leaders;  ///< [rank]: that asks for its blocks: itself, or one with which it scores in step
  std::uint64_t cells_per_context = 1;
  std::optional<TimeLimit> time_limit;
};

struct CoordinatorEnd {
  StopOrder order;        ///< exit code `done`: all blocks are in the journal
  std::string unreached;  ///< name of a rank that did not say goodbye: only an abort ends it; empty: all did
};

/// Serves until all is done, a signal comes, or something fails. Does not throw for failures of the run: they are the
/// order's cause, logged, and every rank that still listens was told to stop.
CoordinatorEnd coordinate(const CoordinatorParts& parts, BlocksLeft& left);

/// What the other ranks do meanwhile: blocks from rank zero to the scorer, raw numbers back, until it says finish (exit
/// code `done`) or stop. Local calls only. Throws Error if rank zero, which pings, has not been heard for three times
/// STEREOSWEEP_RANK_TIMEOUT_S.
StopOrder work_for_rank_zero(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks,
                             const SignalWatcher& signals);

}  // namespace stereosweep::run
