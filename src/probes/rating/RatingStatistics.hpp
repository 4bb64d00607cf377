// `stats` of the rating probe: the file that it writes, and what it prints.
#pragma once

#include <filesystem>
#include <string>

#include "probes/rating/RatingScores.hpp"

namespace stereosweep::probes::rating {

/// Writes `target` (as export_run does): ratings, scores per dimension, spreads, coverage, clusters, agreement.
void write_rating_statistics(const results::ResultFile& file, const RatingOptions& options, const RatingResult& result,
                             const std::filesystem::path& target);

/// Answers by status; position bias.
std::string rating_status_text(const RatingResult& result);
/// Scores of the first `top` identities by every measure.
std::string rating_scores_text(const RatingResult& result, std::size_t top);
/// Inertia, elbows and the first `top` members of each cluster.
std::string rating_clusters_text(const RatingResult& result, std::size_t top);
/// Agreement with people, where there is a table.
std::string rating_agreement_text(const RatingResult& result);

}  // namespace stereosweep::probes::rating
