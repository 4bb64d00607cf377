// The association probe for the rest of the program.
#pragma once

#include "findings/HumanRatings.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::association {

const ProbeKind& association_kind();

/// What the rows of `statistics.human_ratings` are held against.
findings::RatingNames rating_names(const sweep::Job& job);

}  // namespace stereosweep::probes::association
