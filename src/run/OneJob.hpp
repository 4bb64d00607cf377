// One job of a run request: set-up, scoring of its stages, export; and what all its stages share on a rank: its
// directory, model and settings, and how its end is written down.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/Processors.hpp"
#include "parallel/Communicator.hpp"
#include "run/JobModel.hpp"
#include "run/Run.hpp"
#include "run/directory/Lease.hpp"
#include "run/directory/RunDirectory.hpp"
#include "run/directory/StatusFile.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::run {

/// What becomes of ranks other than zero once all blocks are in the journal: they wait for the next job of the sweep,
/// or exit while rank zero writes the result.
enum class OtherRanks { stay, leave };

/// What a job shares with the others of its sweep.
struct SweepParts {
  OtherRanks others = OtherRanks::leave;
  KeptModel& model;  ///< of an earlier job, or of this one
};

/// `signals` and the kept model are borrowed. `text`: the job file as it was written, for provenance (rank zero).
struct JobParts {
  JobParts(RunRequest asked, sweep::Job job, std::string text, std::filesystem::path root,
           const parallel::Communicator& ranks, SignalWatcher& watcher, const SweepParts& sweep);
  JobParts(const JobParts&) = delete;
  JobParts& operator=(const JobParts&) = delete;

  const sweep::Job& job() const { return scoring->job; }
  bool leads() const { return world.rank() == 0; }
  /// Collective: what `step` throws on rank zero is thrown on all ranks. A name is a fault point
  /// (parallel::coordinated).
  void on_rank_zero(auto&& step, std::string_view name = "") const {
    parallel::coordinated(world, name, [&] {
      if (leads()) {
        step();
      }
    });
  }
  /// Rank zero: from here on the run has a status.
  void open_status(const RunStatus& first);
  /// Any thread; rank zero writes it down. The first end is the true one: returns whether this is it; a later one at
  /// most adds its cause.
  bool write_end(const std::string& state, const std::string& cause);
  /// Rank zero: until forgotten, a failure of this start says nothing about the run, whose status goes back to
  /// `old_status`.
  void keep_earlier_end();
  void forget_earlier_end();
  void write_resolved_job() const;
  /// While nothing is in flight a signal may end the process where it stands; until signals are only remembered again.
  void stop_at_once_on_signal();
  /// Rank zero's status tells of one nevertheless: who sent it may not wait for the main thread.
  void remember_signals();
  /// Of all ranks on this machine, which end or wait asleep while the loan lives.
  base::ProcessorLoan lend_processors() const;
  /// Collective, where ranks may leave: MPI ends, rank zero goes on as the only rank. Returns whether this rank goes
  /// on.
  bool let_others_leave();

  const RunRequest request;
  std::string job_text;  ///< the job file as it was written
  RunDirectory directory;
  parallel::Communicator world;
  SignalWatcher& signals;
  const SweepParts sweep;
  std::shared_ptr<ScoringParts> scoring;
  RunSettings settings;
  std::vector<std::string> gpus;
  // rank zero only
  bool exported = false;   ///< an earlier attempt wrote the whole result
  std::string old_status;  ///< status.json as an earlier attempt left it
  std::optional<Lease> lease;
  std::unique_ptr<StatusFile> status;

 private:
  std::recursive_mutex end_mutex_;  ///< main thread and signals write the end
  bool has_ended_ = false;
  std::string true_end_;             ///< empty: the end that is written
  std::shared_ptr<void> on_signal_;  ///< the last member: it uses the others
};

/// Collective; see run_jobs.
base::ExitCode run_one_job(JobParts& parts);

}  // namespace stereosweep::run
