// `stats`: raw numbers -> scores, averages and agreement with human ratings, as a file, as values and as text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "findings/agreement/Alignment.hpp"
#include "parallel/Communicator.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/scores/ScoreReader.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/ShownMeasures.hpp"

namespace stereosweep::probes::association {

struct StatisticsOptions {
  Statistics::Aggregate word_aggregate = Statistics::Aggregate::median;
  std::vector<std::string> templates;                    ///< labels to average over; empty: all
  std::optional<std::vector<findings::Rating>> ratings;  ///< human means
  std::string ratings_source;                            ///< where they come from, for the file
  stats::ShuffleSettings shuffles;                       ///< of the p of pooled agreement
};

struct StatisticsResult : findings::PairAgreement {
  std::vector<std::string> cell_status_names;
  std::vector<TraitPairs::Pair> pairs;
  std::vector<std::string> pole_names;
};

/// Streams through `file`, writes `target` (as export_run does) and returns what tables show. Variables:
///   word_score, pole_score, pair_score [group, template, rephrasing, variant, prior, ...] with status or coverage
///   mean_pair_score [variant, prior, group, pair] over the selected templates and all rephrasings
///   with ratings: human_mean, tau, precision_at_3, ... [variant, prior, (group or template)]
///   score, score_status: the table of scores (results/ScoreTable.hpp)
/// Throws InputError for unknown templates and unusable ratings, base::Error for files. Where there are more ranks,
/// they read and fold the file, and rank zero writes.
StatisticsResult write_statistics(const results::ResultFile& file, const StatisticsOptions& options,
                                  const results::StatisticsTarget& target, const parallel::Communicator& world = {});
/// What the other ranks do meanwhile.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world);

/// The same without a file: for summaries.
StatisticsResult compute_statistics(const results::ResultFile& file, const StatisticsOptions& options);

/// Cells by status, and undefined scores by measure, prior and reason.
std::string status_text(const StatisticsResult& result, const results::ShownMeasures& shown = {});

/// The `count` strongest trait-pair scores of each measure, with the first prior.
std::string top_associations_text(const StatisticsResult& result, std::size_t count,
                                  const results::ShownMeasures& shown = {});

}  // namespace stereosweep::probes::association
