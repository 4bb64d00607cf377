// Journal -> HDF5 for one run directory: what the run knows about itself, added to the blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/Probe.hpp"
#include "results/Export.hpp"
#include "results/Journal.hpp"
#include "run/RunDirectory.hpp"

namespace stereosweep::run {

/// What an export went through: how many cells have which status, and the first few that are not "ok".
struct ExportSummary {
  struct Row {
    std::string cube;
    std::string status;
    std::uint64_t count = 0;
  };
  std::vector<Row> rows;
  base::Digest digest{};              ///< of all raw numbers: results::RawDigest
  std::vector<std::string> examples;  ///< "status too_long: group women, template t1, rephrasing none, word kind"
};

/// Writes `<probe>.h5`. Equal journals give equal files. Throws Error (full disk, ...); the old file stays then.
ExportSummary export_directory(const RunDirectory& directory, const domain::Job& job, const probe::Probe& probe,
                               const results::JournalStore& store);

/// Prints what was exported: statuses with examples, and what scoring took.
void log_summary(const ExportSummary& summary, const query::EngineCounts& cost);
/// "digest HEX  FILE" on standard output.
void print_digest(const ExportSummary& summary, const std::filesystem::path& file);

/// What a journal's head says about its attempt, as JSON: software, hosts, ranks, GPUs, MPI, Slurm job, job file.
std::string attempt_facts(const std::vector<std::string>& hosts, const std::vector<std::string>& gpus,
                          const std::string& job_text);

/// Cells of one context: values of the schema's status cube, 1 without one.
std::uint64_t cells_per_context(const probe::RawSchema& schema);

}  // namespace stereosweep::run
