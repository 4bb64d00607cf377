// All that a job asks of a score table under `statistics`, one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/Finding.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// In the order in which they are printed. Collective over `all.ranks`, which share the work; the bits are the same for
/// any number of them. Throws InputError for labels that the table does not have.
std::vector<Finding> conclude(const Scores& all, const sweep::Comparison& comparison, std::uint64_t seed);

}  // namespace stereosweep::findings
