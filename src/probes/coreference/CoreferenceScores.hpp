// Raw cubes of a coreference run -> the score table, whose measures README.md of this room defines.
#pragma once

#include <string>
#include <vector>

#include "probes/coreference/Coreference.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/OptionProbabilities.hpp"

namespace stereosweep::probes::coreference {

// Both throw InputError if `file` is no result of the probe 'coreference'. Texts: how many cells have which status.

std::string status_text(const results::ResultFile& file);

/// Of the score table, by the outer axes of the result (group, rephrasing, template). Measures: README.md. Subjects are
/// the conditions, items the roles of the occupations; one replicate.
results::ScoreTableAxes score_axes(const std::vector<results::AxisSchema>& raw);

/// Writes `target` (as export_run does) with the score table, condition by condition.
std::string write_scores(const results::ResultFile& file, stats::Ties ties, const results::StatisticsTarget& target);

}  // namespace stereosweep::probes::coreference
