// What a contexts job will cost: the corpus is scanned, the model's weights are not read.
#pragma once

#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::contexts {

/// The contexts probe's `plan`.
void plan_contexts(const PlanRequest& request);

}  // namespace stereosweep::probes::contexts
