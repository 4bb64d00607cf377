// `stats`: raw numbers -> the table of scores, and why scores are missing.
#pragma once

#include <string>

#include "parallel/Communicator.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/scores/ScoreReader.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/ShownMeasures.hpp"

namespace stereosweep::probes::association {

/// Of the table of scores, by the axes and cubes of the result.
results::ScoreTableAxes score_axes(const results::RawSchema& schema);

/// Streams through `file` and writes `target` (as export_run does): the table of scores (results/ScoreTable.hpp), and
/// pole_score and pole_score_status over the same axes, with poles in the place of items. Throws base::Error for files.
/// Where there are more ranks, they read and fold the file, and rank zero writes. The text says why scores are missing.
std::string write_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                             const results::StatisticsTarget& target, const results::ShownMeasures& shown = {},
                             const parallel::Communicator& world = {});
/// What the other ranks do meanwhile.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world);

/// Cells by status, and scores of words that do not exist by measure and reason.
std::string status_text(const results::ResultFile& file);

}  // namespace stereosweep::probes::association
