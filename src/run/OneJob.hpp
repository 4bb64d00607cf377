// One job of a run request: set-up, scoring of its stages, export. Made and used on all ranks.
#pragma once

#include <string>

#include "run/JobParts.hpp"

namespace stereosweep::run {

class OneJob {
 public:
  /// `job_text`: the job file as it was written, for provenance (rank zero).
  OneJob(const RunRequest& request, sweep::Job job, std::string job_text, std::filesystem::path root,
         const parallel::Communicator& world, SignalWatcher& signals)
      : parts_(request, std::move(job), std::move(job_text), std::move(root), world, signals) {}
  /// Collective; see run_jobs.
  base::ExitCode run();

 private:
  void prepare();
  void check_reuse() const;
  void open_directory();
  void begin_anew();
  void check_devices();
  void read_model();
  void agree_on_settings();

  JobParts parts_;
  bool overwrite_ = false;  ///< rank zero: --overwrite, and this is no restart by Slurm
};

}  // namespace stereosweep::run
