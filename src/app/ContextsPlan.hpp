// What a contexts job will cost: the corpus is scanned, the model's weights are not read.
#pragma once

#include "app/ProbeCommands.hpp"

namespace stereosweep::app {

/// The contexts probe's `plan`.
void plan_contexts(const PlanRequest& request);

/// The same for vectors of a file: no model is asked.
void plan_table(const domain::Job& job, std::optional<std::uint64_t> limit);

}  // namespace stereosweep::app
