// `show` and `stats` of a contexts result.
#pragma once

#include "findings/HumanRatings.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::contexts {

/// What the rows of `statistics.human_ratings` are held against.
findings::RatingNames rating_names(const sweep::Job& job);

void show_contexts(const results::ResultFile& file, Detail detail, std::size_t top);
/// Rank zero: writes the file and prints.
void contexts_statistics(const StatsRequest& request);
/// The other ranks: their shares of the exact tests.
void assist_contexts_statistics(const StatsRequest& request);

}  // namespace stereosweep::probes::contexts
