// `stats` of several results: their score tables joined, compared, written and shown.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "findings/runs/RunComparison.hpp"
#include "results/Reader.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::app {

/// One result, and where its statistics are, or are to be.
struct StatsSource {
  std::unique_ptr<const results::ResultFile> file;
  sweep::Job job;
  std::filesystem::path target;
};

/// Attribute of a statistics file: what its numbers were computed with.
constexpr const char* settings_attribute = "settings_sha256";

/// SHA-256 of the resolved job but for what is asked of the finished score table (contrasts, means, inference).
std::string settings_hash(const sweep::Job& job);

/// Whether the file at `source.target` is of this result, and was computed as its job says.
bool statistics_are_current(const StatsSource& source);

struct RunsRequest {
  std::filesystem::path target;
  std::optional<std::string> against;  ///< label of the run that the others are compared with
  std::size_t top = 0;                 ///< rows of each table that is printed
  results::ShownMeasures shown = {};   ///< measures whose rows are printed
};

/// Rank zero. Writes the comparison; what may be printed of it. The statistics files must be current. Throws InputError
/// for results that cannot be compared.
std::string compare_results(std::span<const StatsSource> sources, const RunsRequest& request);

}  // namespace stereosweep::app
