// Correlations of items, or of what items have in common (a dimension), over the subjects of a score table, and over
// the members of each of its clusters (stereomap §3.1: warmth and competence with emotions and behaviours). Knows no
// probe.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/clusters/Clusters.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

using FindClusters = std::function<const Clusters*()>;
/// Variables `correlation_...` over the axis `correlation` (`too_few`: fewer than three subjects have both scores), the
/// smallest p first in the tables, and `correlation_score` over measure (or `correlated_measure`), subject,
/// correlation_side. Collective. `find_clusters`: those of the same table, null where none are asked for; called when
/// all names are known. Throws InputError for names that the table does not have, and for measures that are to be taken
/// apart by clusters and are not clustered.
std::vector<Finding> correlations_of(const Scores& scores, const sweep::Comparison& comparison,
                                     const FindClusters& find_clusters, std::uint64_t seed);

/// The subjects with the highest and the lowest mean of an item or a dimension, what is known of them beyond chance,
/// and how much their mean varies over rounds (stereomap, Table 9): variables `extreme_...` over measure (all of the
/// table, or `extreme_measure`), extreme_of, subject; of each measure and group a table of the subjects at both ends,
/// the best evidence first. A subject's p after Holm and its rank are among the subjects. A round's mean is that over
/// its cells (item, template, rephrasing) with a score; the replicate that is the mean of the others is none.
/// Collective. Throws InputError for names that the table does not have.
Finding extremes_of(const Scores& scores, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
