// What `stats` and `show` print.
#pragma once

#include <string>

#include "results/Statistics.hpp"

namespace stereosweep::results {

/// Cells by status, and undefined scores by measure, prior and reason.
std::string status_text(const StatisticsResult& result);

/// The `count` strongest trait-pair scores of each measure, with the first prior.
std::string top_associations_text(const StatisticsResult& result, std::size_t count);

/// Agreement with human ratings: overall; of the first `top` groups and templates with the first prior; names that did
/// not match. "" without ratings.
std::string agreement_text(const PairAgreement& result, std::size_t top);

}  // namespace stereosweep::results
