// A run directory or a result file, as `show` and `stats` take it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/Reader.hpp"

namespace stereosweep::app {

/// Throws InputError where `path` is a job file: what a run left is asked for.
void refuse_job_file(const std::filesystem::path& path);

/// The run directories in a folder that is none itself, sorted; none where it is one, or no folder.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& path);

/// Throws InputError naming the runs where `path` is a folder of run directories (as a sweep leaves) and none itself.
void refuse_folder_of_runs(const std::filesystem::path& path);

/// The exported file that `path` means: itself, or the one PROBE.h5 in a run directory (PROBE.vectors.h5 and
/// PROBE.stats.h5 are only meant where they are named). Throws InputError if there is
/// none (a run that was not exported yet, a folder of runs) or more than one.
std::filesystem::path find_result(const std::filesystem::path& path);

/// Where `stats` writes what it finds in a result: "association.h5" -> "association.stats.h5", in the same directory.
std::filesystem::path statistics_beside(const std::filesystem::path& file);

/// The probe that a result file names; "" where it names none.
std::string probe_of(const results::ResultFile& file);

/// Whether the file holds a stage before the last ("contexts.vectors"): numbers that nothing is derived from directly.
bool is_stage_file(const results::ResultFile& file);

}  // namespace stereosweep::app
