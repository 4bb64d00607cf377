// The stages of a job, one after the other: what an earlier start came to is taken up, the rest is scored and exported.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "probes/Stage.hpp"
#include "run/OneJob.hpp"

namespace stereosweep::run {

/// Collective: throws on all ranks where `ranks_per_group` of them cannot hold a model together.
void require_tensor_ranks(const parallel::Communicator& world, int ranks_per_group);

/// Collective; see run_jobs. The job's model is read and its settings are agreed on.
base::ExitCode run_stages(JobParts& job);

/// Throws InputError: the stage cannot be reopened, though its blocks are in a journal.
[[noreturn]] void refuse_unread(const probes::Stage& stage, const std::filesystem::path& directory);

/// What `export` does with a run directory, also while it runs: as much as its stages have come to. Returns what to
/// print, a line per file and digest. Throws InputError where job or tokenizer are not those of the journals, where
/// nothing can be exported yet, and, once the others are written, where a stage cannot be reopened.
std::vector<std::string> export_stages(const std::filesystem::path& run_directory);

}  // namespace stereosweep::run
