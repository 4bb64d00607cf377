// The subjects with the highest and the lowest mean of an item or a dimension, what is known of them beyond chance, and
// how much their mean varies over rounds (stereomap, Table 9). Knows no probe.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Means.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

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
