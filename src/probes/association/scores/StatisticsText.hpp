// What `stats` and `show` print.
#pragma once

#include <string>

#include "probes/association/scores/Statistics.hpp"

namespace stereosweep::probes::association {

/// Cells by status, and undefined scores by measure, prior and reason.
std::string status_text(const StatisticsResult& result);

/// The `count` strongest trait-pair scores of each measure, with the first prior.
std::string top_associations_text(const StatisticsResult& result, std::size_t count);

}  // namespace stereosweep::probes::association
