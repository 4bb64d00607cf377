// Raw cubes of a rating run -> ratings, the score table, and what only ratings have: what became of sampled answers,
// where in the list the likely options stand, agreement with people's means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"

namespace stereosweep::probes::rating {

struct RatingResult {
  /// Ratings from each source and their differences between the orders of the options, negative traits turned round.
  results::ScoreTable table;
  std::vector<std::string> sources;          ///< as source_names
  std::vector<double> position_shares;       ///< [form, position]: mean probability of what stands there
  std::vector<std::string> answer_statuses;  ///< empty where nothing was sampled
  std::vector<std::int32_t> answer_counts;   ///< [group, answer status]
};

/// What ratings are made of, with so many sampled answers to a prompt.
std::vector<std::string> source_names(std::size_t num_runs);

/// Of the score table, by the axes and cubes of the result.
results::ScoreTableAxes score_axes(const results::RawSchema& schema);

/// Reads the whole file once.
RatingResult compute_ratings(const results::ResultFile& file);

/// `position_share`, and `answer_count` where answers were sampled.
std::vector<findings::Finding> findings_of(const RatingResult& result);

/// `agreement`: correlations over groups of their mean scores on a dimension and people's means.
findings::Finding agreement_of(const std::vector<std::string>& sources, const findings::Scores& scores,
                               const std::string& human_ratings);

}  // namespace stereosweep::probes::rating
