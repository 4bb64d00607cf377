// `statistics.correlations` and `statistics.extremes`.
#pragma once

#include <vector>

#include "config/yaml/FieldsSchema.hpp"
#include "sweep/CorrelationRequest.hpp"

namespace stereosweep::config {

/// Faults are reported; what is wrong is left out.
std::vector<sweep::CorrelationRequest> read_correlations(const Node& list, base::Problems& problems);
Node dump_correlations(const std::vector<sweep::CorrelationRequest>& requests);

/// A mapping, or `all`.
sweep::ExtremesRequest read_extremes(const Node& node, base::Problems& problems);
Node dump_extremes(const sweep::ExtremesRequest& request);

base::Json correlation_schema();
base::Json extremes_schema();

}  // namespace stereosweep::config
