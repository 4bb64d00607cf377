// Raw cubes of a rating run -> ratings, scores per dimension with their spread, coverage, agreement; and the score
// table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "findings/clusters/DimensionMeans.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Correlation.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::rating {

struct RatingOptions {
  std::optional<findings::DimensionMeans> human;
  std::string human_source;  ///< where they come from, for the file
};

struct TraitFacts {
  std::string label;
  std::size_t dimension = 0;  ///< index into the axes' dimensions
  bool is_turned = false;     ///< a high rating is low on the dimension
};

/// Names on the axes of a rating result.
struct RatingAxes {
  results::AxisSchema group;  ///< as in the file, with their coordinates
  results::AxisSchema sentence;
  results::AxisSchema rephrasing;
  std::vector<TraitFacts> traits;
  std::vector<std::string> dimensions;       ///< in the order of the traits
  std::vector<std::string> sources;          ///< as source_names
  std::vector<double> values;                ///< [option]
  std::vector<bool> is_reversed;             ///< [order]: the options were listed backwards
  std::vector<std::string> answer_statuses;  ///< empty where nothing was sampled
  std::size_t num_runs = 0;
  std::size_t num_groups() const { return group.labels.size(); }
  /// Template x rephrasing: the ways in which a trait is asked about.
  std::size_t num_wordings() const { return sentence.labels.size() * rephrasing.labels.size(); }
  std::size_t num_contexts() const { return num_groups() * traits.size() * num_wordings(); }
};

/// A rating, NaN where there is none.
struct Rated {
  double value = stats::nan;
  results::ScoreStatus status = results::ScoreStatus::unscored;
};

/// Of one group on one dimension from one source. Mean over the cells (trait x wording) that have a rating.
struct DimensionScore {
  stats::Value mean;
  std::int32_t num_ratings = 0;
  stats::Value spread_questions;  ///< sd (n - 1) over wordings, of the mean over traits
  stats::Value spread_runs;       ///< the same over runs, of the mean over traits, wordings and orders; sampled only
  stats::Value variation;         ///< spread_questions / mean
};

struct RatingResult {
  RatingAxes axes;
  std::vector<Rated> ratings;                  ///< [context, source]
  std::vector<Rated> run_ratings;              ///< [context, run]: mean over orders of sampled answers
  std::vector<double> order_differences;       ///< [context, form]; NaN: none, or one order only
  std::vector<stats::Value> order_variations;  ///< [form, group, trait]: deviation over mean of the two orders
  std::vector<double> position_shares;         ///< [form, position]: mean probability of what stands there
  std::vector<std::int32_t> answer_counts;     ///< [group, answer status]
  std::vector<DimensionScore> scores;          ///< [source, dimension, group]
  std::vector<double> human;                   ///< [dimension, group]; empty without a table
  std::vector<stats::Correlation> pearson;     ///< [source, dimension], over groups; empty without a table
  std::vector<stats::Correlation> spearman;
  const DimensionScore& score(std::size_t source, std::size_t dimension, std::size_t group) const {
    return scores[(source * axes.dimensions.size() + dimension) * axes.num_groups() + group];
  }
};

/// What ratings are made of, with so many sampled answers to a prompt.
std::vector<std::string> source_names(std::size_t num_runs);

/// Reads the whole file once. Throws InputError if it is no rating result.
RatingResult compute_ratings(const results::ResultFile& file, const RatingOptions& options);

/// Ratings from each source and their differences between the orders of the options, negative traits turned round.
results::ScoreTable score_table(const RatingResult& result);

/// Writes `target` (as export_run does): the score table, ratings, scores per dimension, spreads, coverage, agreement.
void write_rating_statistics(const results::ResultFile& file, const RatingOptions& options, const RatingResult& result,
                             const results::StatisticsTarget& target);

}  // namespace stereosweep::probes::rating
