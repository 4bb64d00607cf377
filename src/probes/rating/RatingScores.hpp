// Raw cubes of a rating run -> ratings, scores per dimension with their spread, coverage, agreement, clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/Reader.hpp"
#include "stats/Agreement.hpp"
#include "stats/Clusters.hpp"

namespace stereosweep::probes::rating {

/// One mean of a table of human ratings, with the names of the run.
struct IdentityRating {
  std::string identity;
  std::string dimension;
  double mean = 0;
};

struct RatingOptions {
  std::optional<std::vector<IdentityRating>> human;
  std::string human_source;  ///< where they come from, for the file
  stats::ClusterSettings clusters;
  std::size_t max_clusters = 10;
};

/// Names on the axes of a rating result.
struct RatingAxes {
  std::vector<std::string> identities;
  std::vector<std::string> traits;
  std::vector<std::string> questions;
  std::vector<std::string> dimensions;       ///< in the order of the traits
  std::vector<std::size_t> dimension_of;     ///< [trait]
  std::vector<bool> is_turned;               ///< [trait]: a high rating is low on the dimension
  std::vector<std::string> measures;         ///< "option_text", "option_letter", and "sampled" where texts were sampled
  std::vector<double> values;                ///< [option]
  std::vector<std::string> answer_statuses;  ///< empty where nothing was sampled
  std::size_t num_runs = 0;
  std::size_t num_contexts() const { return identities.size() * traits.size() * questions.size(); }
};

/// Of one identity on one dimension by one measure. Mean over the cells (trait x question) that have a rating.
struct DimensionScore {
  stats::Value mean;
  std::int32_t num_ratings = 0;
  stats::Value spread_questions;  ///< sd (n - 1) over questions, of the mean over traits
  stats::Value spread_runs;       ///< the same over runs, of the mean over traits, questions and orders; sampled only
  stats::Value variation;         ///< spread_questions / mean
};

struct RatingClusters {
  std::vector<std::size_t> identities;       ///< those with a score on every dimension
  std::vector<stats::Clustering> by_number;  ///< [k - 1]
  stats::Elbow elbow;
};

struct RatingResult {
  RatingAxes axes;
  std::vector<double> ratings;              ///< [identity, trait, question, measure]; NaN: none
  std::vector<double> order_differences;    ///< [identity, trait, question, form]
  std::vector<double> position_shares;      ///< [form, position]: mean probability of what stands there
  std::vector<std::int32_t> answer_counts;  ///< [identity, answer status]
  std::vector<DimensionScore> scores;       ///< [measure, dimension, identity]
  std::vector<RatingClusters> clusters;     ///< [measure]
  std::vector<double> human;                ///< [dimension, identity]; empty without a table
  std::vector<stats::Correlation> pearson;  ///< [measure, dimension], over identities; empty without a table
  std::vector<stats::Correlation> spearman;
  const DimensionScore& score(std::size_t measure, std::size_t dimension, std::size_t identity) const {
    return scores[(measure * axes.dimensions.size() + dimension) * axes.identities.size() + identity];
  }
};

/// Reads the whole file once. Throws InputError if it is no rating result or a human rating stands twice.
RatingResult compute_ratings(const results::ResultFile& file, const RatingOptions& options);

}  // namespace stereosweep::probes::rating
