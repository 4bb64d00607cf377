// Journal -> HDF5 for one run directory: what the run knows about itself, added to the blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "probes/Stage.hpp"
#include "results/Export.hpp"
#include "results/Journal.hpp"
#include "run/directory/Lease.hpp"
#include "run/directory/RunDirectory.hpp"

namespace stereosweep::run {

/// What an export went through: how many cells have which status, and the first few that are not "ok".
struct ExportSummary {
  std::vector<std::string> lines;     ///< "status ok: 1,234 cells"
  base::Digest digest{};              ///< of all raw numbers: results::RawDigest
  std::string none;                   ///< why no cell has a number: "too_long: 12 cells"; "": one has
  std::vector<std::string> examples;  ///< "status too_long: group women, template t1, rephrasing none, word kind"
  std::uint64_t num_blocks_wanted;    ///< all, unless the run stopped when it knew
};

/// Whether a result is there, complete, and what an earlier attempt wrote or the user made of it; a warning where it is
/// damaged.
bool is_whole(const std::filesystem::path& file);

/// Writes the file of a stage, which has one. Equal journals give equal files. Throws Error (full disk, ...); the old
/// file stays then. `lease`: of the run that exports, looked at before the file takes its name. Without one (null) a
/// complete result is not replaced by one that is not. Every STEREOSWEEP_PROGRESS_S it logs how far it is, and tells
/// `show` how many blocks it has read.
ExportSummary export_stage(const RunDirectory& directory, const sweep::Job& job, const probes::Stage& stage,
                           const probes::Probe& probe, const results::JournalStore& store, const Lease* lease,
                           const std::function<void(std::uint64_t)>& show);

/// Prints what was exported: statuses with examples, and what scoring took. `stage`: "" where the job has one.
void log_summary(const std::string& stage, const ExportSummary& summary, const query::EngineCounts& cost);
/// What to type next, now that the result stands.
void log_next_command(const std::filesystem::path& run_directory);

/// What a journal's head says about its attempt, as JSON: software, hosts, ranks, GPUs, MPI, Slurm job, job file.
std::string attempt_facts(const std::vector<std::string>& hosts, const std::vector<std::string>& gpus,
                          const std::string& job_text);

/// Cells of one context: values of the schema's status cube, 1 without one.
std::uint64_t cells_per_context(const results::RawSchema& schema);

}  // namespace stereosweep::run
