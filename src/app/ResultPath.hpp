// A run directory or a result file, as `show` and `stats` take it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/Reader.hpp"

namespace stereosweep::app {

/// What to give where a run is asked for.
constexpr const char* folder_advice = "Give the folder that 'stereosweep run' wrote: results/NAME.";

/// Throws InputError where `path` is a job file: what a run left is asked for.
void refuse_job_file(const std::filesystem::path& path);

/// The run directories in a folder that is none itself, or of a sweep of this name (`path`.VALUE) where there is no
/// such folder; sorted; none where it is a run directory itself, or neither.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& path);

/// Those that the places mean: of each the runs in it, or itself.
std::vector<std::filesystem::path> runs_of(const std::vector<std::string>& places);

/// A file of all these runs, which is called `ending` in the folder of their sweep; beside a sweep without a folder of
/// its own, and beside the first of several runs, behind their names.
std::filesystem::path beside_runs(const std::vector<std::string>& places, const std::string& ending);

/// Throws InputError where `path` is no run directory; of a folder of runs (as a sweep leaves) it names them.
void require_run(const std::filesystem::path& path);

/// The exported file that `path` means: itself, or the one PROBE.h5 in a run directory (PROBE.vectors.h5 and
/// PROBE.stats.h5 are only meant where they are named). Throws InputError if there is
/// none (a run that was not exported yet, a folder of runs) or more than one.
std::filesystem::path find_result(const std::filesystem::path& path);

/// The probe that a result file names; "" where it names none.
std::string probe_of(const results::ResultFile& file);

/// Whether the file holds a stage before the last ("contexts.vectors"): numbers that nothing is derived from directly.
bool is_stage_file(const results::ResultFile& file);

}  // namespace stereosweep::app
