// What `stats` and `show` print of a coreference result.
#pragma once

#include <cstddef>
#include <string>

#include "probes/coreference/CoreferenceStatistics.hpp"

namespace stereosweep::probes::coreference {

/// Cells by status.
std::string coreference_status_text(const CoreferenceResult& result);
/// Means by type and condition, pro and anti; the first `top` conditions.
std::string coreference_means_text(const CoreferenceResult& result, std::size_t top);
/// The `top` largest disparities of each definition, by share.
std::string coreference_disparities_text(const CoreferenceResult& result, std::size_t top);

}  // namespace stereosweep::probes::coreference
