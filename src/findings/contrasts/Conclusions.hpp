// All that a job asks of a score table under `statistics`, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Means.hpp"
#include "findings/Variation.hpp"
#include "findings/clusters/Clusters.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/correlations/Correlations.hpp"
#include "findings/correlations/Extremes.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/people/People.hpp"
#include "findings/variance/Variance.hpp"

namespace stereosweep::findings {

struct Conclusions {
  std::vector<Finding> findings;  ///< what was asked first; statistics that are written in no other way
  std::optional<PeopleAgreement> people;
};

/// Collective over `scores.ranks`, which share the work; the bits are the same for any number of them. Throws
/// InputError for labels that the table does not have.
Conclusions conclude(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

void write_conclusions(results::Layout& layout, const Conclusions& conclusions, const sweep::Comparison& comparison);

/// `top`: rows of each long table; `shown`: measures whose rows are printed.
std::string conclusions_text(const Conclusions& conclusions, const sweep::Comparison& comparison, std::size_t top,
                             const results::ShownMeasures& shown);

}  // namespace stereosweep::findings
