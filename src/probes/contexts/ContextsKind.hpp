// The contexts probe for the rest of the program.
#pragma once

#include <memory>
#include <vector>

#include "findings/HumanRatings.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::contexts {

const ProbeKind& contexts_kind();

// Parts of it.

/// `vectors` asks the model for the vectors of the words in their contexts, `effects` computes samples of the tests
/// from them.
std::vector<std::unique_ptr<Stage>> make_stages();
/// `plan`: the corpus is scanned, the model's weights are not read.
void plan_contexts(const PlanRequest& request);
/// What the rows of `statistics.human_ratings` are held against.
findings::RatingNames rating_names(const sweep::Job& job);

}  // namespace stereosweep::probes::contexts
