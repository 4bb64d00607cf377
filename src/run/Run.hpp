// `stereosweep run`: a job file from start to result, on any number of ranks, as often as it takes.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "parallel/Communicator.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::run {

/// No block is begun that would not end before the limit.
struct TimeLimit {
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point end;
};

struct RunRequest {
  std::filesystem::path job;           ///< a job file, or the directory of a run
  std::vector<std::string> overrides;  ///< "dotted.path=value"
  std::filesystem::path output;  ///< the run's directory; with a sweep the parent of several; empty: results/<name>
  enum class Existing { resume, overwrite };
  Existing existing = Existing::resume;
  std::filesystem::path reuse;  ///< directory of an older run; empty: none
  std::string only;             ///< one job of a sweep, by its number from 1 or its name; empty: all
  std::optional<TimeLimit> time_limit;
};

/// Collective: all ranks return the same code: done, or resume (75) after a signal. Only rank zero reads the job and
/// writes files. Throws SharedError on all ranks for what ends the run; where a rank cannot be reached any more, all
/// are aborted.
base::ExitCode run_jobs(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals);

}  // namespace stereosweep::run
