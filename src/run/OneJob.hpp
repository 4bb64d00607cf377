// One job of a run request: set-up, scoring, export. Made and used on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/Communicator.hpp"
#include "parallel/GpuBinding.hpp"
#include "run/Coordinator.hpp"
#include "run/ExportDirectory.hpp"
#include "run/Lease.hpp"
#include "run/Run.hpp"
#include "run/RunDirectory.hpp"
#include "run/Settings.hpp"
#include "run/StatusFile.hpp"
#include "run/TensorRanks.hpp"

namespace stereosweep::run {

/// What the scoring thread uses. Shared with it, because a thread that is given up outlives everything else.
struct ScoringParts {
  base::FileSet files{""};
  std::optional<tokenizer::Tokenizer> tokenizer;
  std::unique_ptr<probe::Probe> probe;
  domain::Job job;
  parallel::GpuBinding gpu;
};

class OneJob {
 public:
  /// `job_text`: the job file as it was written, for provenance (rank zero).
  OneJob(const RunRequest& request, domain::Job job, std::string job_text, std::filesystem::path root,
         const parallel::Communicator& world, SignalWatcher& signals);
  /// Collective; see run_jobs.
  base::ExitCode run();

 private:
  void prepare();
  void open_directory();
  void write_resolved_job();
  void check_memory();
  void read_model();
  void agree_on_settings();
  void open_journals();
  void take_over(const std::filesystem::path& old_directory);
  void start_attempt();
  base::ExitCode score();
  base::ExitCode follow(const ScorerParts& scorer_parts);
  base::ExitCode lead(const ScorerParts& scorer_parts);
  void finish();
  void export_and_report();
  void stop_at_once_on_signal();
  void write_end(const std::string& state, const std::string& cause);
  bool leads() const { return world_.rank() == 0; }

  const RunRequest& request_;
  std::string job_text_;
  RunDirectory directory_;
  const parallel::Communicator& world_;
  SignalWatcher& signals_;
  std::shared_ptr<ScoringParts> parts_;
  RunSettings settings_;
  std::vector<std::string> hosts_;
  std::vector<std::string> gpus_;
  std::optional<TensorRanks> ranks_;
  bool complete_ = false;  ///< nothing is left to score
  // rank zero only
  bool exported_ = false;   ///< an earlier attempt wrote the whole result
  std::string old_status_;  ///< status.json as an earlier attempt left it
  std::string true_end_;    ///< = old_status_ while a failure of this start would say nothing about the run
  std::optional<Lease> lease_;
  std::unique_ptr<StatusFile> status_;
  std::optional<results::JournalStore> store_;
  std::optional<BlocksLeft> left_;
  std::unique_ptr<results::JournalWriter> journal_;
};

}  // namespace stereosweep::run
