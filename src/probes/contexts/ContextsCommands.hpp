// What the probe does and says, for its kind.
#pragma once

#include <memory>
#include <vector>

#include "findings/HumanRatings.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::contexts {

/// `vectors` asks the model for the vectors of the words in their contexts, `effects` computes samples of the tests
/// from them.
std::vector<std::unique_ptr<Stage>> make_stages();

/// `plan`: the corpus is scanned, the model's weights are not read.
void plan_contexts(const PlanRequest& request);

/// What the rows of `statistics.human_ratings` are held against.
findings::RatingNames rating_names(const sweep::Job& job);

void show_contexts(const results::ResultFile& file, Detail detail, std::size_t top);
/// Rank zero: writes the file and prints.
void contexts_statistics(const StatsRequest& request);
/// The other ranks: their shares of the exact tests.
void assist_contexts_statistics(const StatsRequest& request);

}  // namespace stereosweep::probes::contexts
