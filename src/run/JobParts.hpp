// What all stages of one job share on a rank: its directory, model and settings, and how its end is written down.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/Communicator.hpp"
#include "parallel/GpuBinding.hpp"
#include "run/Lease.hpp"
#include "run/Run.hpp"
#include "run/RunDirectory.hpp"
#include "run/Settings.hpp"
#include "run/StatusFile.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {

/// What the scoring thread uses. Shared with it, because a thread that is given up outlives everything else.
struct ScoringParts {
  base::FileSet files{""};
  std::optional<tokenizer::Tokenizer> tokenizer;  ///< none where the job needs no model
  domain::Job job;
  parallel::GpuBinding gpu;
};

/// `request`, `world`, `signals` and `heartbeat` (null for one rank) are borrowed.
struct JobParts {
  JobParts(const RunRequest& asked, domain::Job job, std::string text, std::filesystem::path root,
           const parallel::Communicator& ranks, SignalWatcher& watcher, parallel::Heartbeat* signs_of_life);
  JobParts(const JobParts&) = delete;
  JobParts& operator=(const JobParts&) = delete;
  /// What is said of a lost rank afterwards still reaches status.json.
  ~JobParts();

  const domain::Job& job() const { return scoring->job; }
  bool leads() const { return world.rank() == 0; }
  /// Rank zero; nothing on the others.
  void write_end(const std::string& state, const std::string& cause);
  void write_resolved_job() const;
  /// A rank is lost, this process is about to end: a result that stands is still done.
  void write_loss(const std::string& cause);
  /// While nothing is in flight a signal may end the process where it stands.
  void stop_at_once_on_signal();

  const RunRequest& request;
  std::string job_text;  ///< the job file as it was written
  RunDirectory directory;
  const parallel::Communicator& world;
  SignalWatcher& signals;
  parallel::Heartbeat* heartbeat;
  std::shared_ptr<ScoringParts> scoring;
  RunSettings settings;
  std::vector<std::string> hosts;
  std::vector<std::string> gpus;
  // rank zero only
  bool exported = false;   ///< an earlier attempt wrote the whole result
  std::string old_status;  ///< status.json as an earlier attempt left it
  std::string true_end;    ///< = old_status while a failure of this start would say nothing about the run
  std::optional<Lease> lease;
  std::shared_ptr<StatusFile> status;  ///< shared with the heartbeat's report
  std::atomic<bool> is_done = false;   ///< also read by the thread of signals
};

/// Whether a result is what an earlier attempt wrote, or what the user made of it; a warning where it is damaged.
bool is_intact(const std::filesystem::path& file);

}  // namespace stereosweep::run
