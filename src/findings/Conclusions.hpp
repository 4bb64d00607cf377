// All that a job asks of a score table under `statistics`, one after another.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "findings/Finding.hpp"
#include "results/ScoreTable.hpp"
#include "sweep/Comparison.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::findings {

/// In the order in which they are printed. Collective over `all.ranks`, which share the work; the bits are the same for
/// any number of them. `only`: key of the one statistic that is computed; empty: all. Throws InputError for labels that
/// the table does not have.
std::vector<Finding> conclude(const Scores& all, const sweep::Comparison& comparison, std::uint64_t seed,
                              std::string_view only = {});

/// What `conclude` would refuse of names and tables before there are scores, by the keys of the statistics: these look
/// up their names in `axes` as they would in a table. An axis without labels is not known; nothing is looked up where
/// the measures, subjects or items are not.
std::vector<sweep::KeyFault> faults_of_names(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
