// Raw cubes of a coreference run -> the score table, whose measures README.md of this room defines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/coreference/Coreference.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/OptionProbabilities.hpp"

namespace stereosweep::probes::coreference {

/// How many cells of the raw result have which status.
struct StatusCounts {
  std::vector<std::string> names;
  std::vector<std::uint64_t> cells;  ///< parallel to `names`
};

// All throw InputError if `file` is no result of the probe 'coreference'.

StatusCounts count_statuses(const results::ResultFile& file);

/// Writes `target` (as export_run does) with the score table, condition by condition.
StatusCounts write_scores(const results::ResultFile& file, stats::Ties ties, const results::StatisticsTarget& target);

/// The whole score table.
results::ScoreTable score_table(const results::ResultFile& file, stats::Ties ties);

}  // namespace stereosweep::probes::coreference
