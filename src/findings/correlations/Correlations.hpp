// Correlations of items, or of what items have in common (a dimension), over the subjects of a score table, and over
// the members of each of its clusters (stereomap §3.1: warmth and competence with emotions and behaviours). Knows no
// probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Means.hpp"
#include "findings/clusters/Clusters.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "stats/Correlation.hpp"
#include "stats/Summary.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Of the subjects that have both scores.
struct CorrelationTest {
  stats::Correlation correlation;  ///< `too_few`: fewer than three; its p is the formula's
  stats::PairingP pairing;         ///< two-sided p of shuffled subjects, and its interval
  double p_holm = stats::nan;
  double p_yekutieli = stats::nan;
};

struct CorrelationRow {
  std::string name;  ///< of what was asked
  std::string measure;
  stats::CorrelationKind method;
  std::string among;  ///< "all", or the cluster: its number and its sides
  std::int32_t cluster = -1;
  std::string left;
  std::string right;
  bool shares_items = false;  ///< an item is part of both
  CorrelationTest test;
};

struct Correlations {
  std::vector<std::size_t> measures;      ///< places on the table's axis: all that are asked for
  std::vector<ItemGroup> groups;          ///< all that are asked for
  std::vector<results::AxisSchema> axes;  ///< measure (or `correlated_measure`), subject, correlation_side
  std::vector<double> scores;             ///< over these axes; NaN: none
  std::vector<CorrelationRow> rows;
  std::vector<std::string> unclustered;  ///< measures without clusters, which were asked for
};

using FindClusters = std::function<const Clusters*()>;
/// Collective. `find_clusters`: those of the same table, null where none are asked for; called when all names are
/// known. Throws InputError for names that the table does not have, and for measures that are to be taken apart by
/// clusters and are not clustered.
Correlations correlations_of(const Scores& scores, const sweep::Comparison& comparison,
                             const FindClusters& find_clusters, std::uint64_t seed);

/// Variables `correlation_...` over the axis `correlation`, the smallest p first in the tables, and
/// `correlation_score`.
std::vector<Finding> findings_of(const Correlations& correlations, const sweep::Comparison& comparison);

// The subjects with the highest and the lowest mean of an item or a dimension, what is known of them beyond chance, and
// how much their mean varies over rounds (stereomap, Table 9). Knows no probe.

/// One subject.
struct ExtremeRow {
  MeanRow mean;           ///< compared with the other subjects: p after Holm and rank are among them
  stats::Value variance;  ///< of the rounds' means (n - 1), the unit's square; `too_few`: fewer than two rounds
  std::int32_t num_rounds = 0;
  std::int32_t place = 0;       ///< 1: the highest; equal means share the best place (as in sports); 0: no mean
  std::int32_t from_below = 0;  ///< the same from the lowest
};

struct Extremes {
  std::vector<results::AxisSchema> axes;  ///< measure (all of the table, or `extreme_measure`), extreme_of, subject
  std::vector<ExtremeRow> rows;           ///< [measure, group, subject]
};

/// Of what `comparison.extremes` asks for. A round's mean is that over its cells (item, template, rephrasing) with a
/// score; the replicate that is the mean of the others is none. Collective. Throws InputError for names that the table
/// does not have.
Extremes extremes_of(const Scores& scores, const sweep::Comparison& comparison);

/// Variables `extreme_...`; of each measure and group a table of the subjects at both ends, the best evidence first.
Finding finding_of(const Extremes& extremes, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
