// The subjects with the highest and the lowest mean of an item or a dimension, and how much that mean varies over
// rounds (stereomap, Table 9). Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/correlations/SubjectScores.hpp"
#include "stats/Summary.hpp"
#include "sweep/CorrelationRequest.hpp"

namespace stereosweep::findings {

/// One subject.
struct ExtremeRow {
  double mean = stats::nan;  ///< as subject_means, in the measure's unit
  stats::Value variance;     ///< of the rounds' means (n - 1), the unit's square; `too_few`: fewer than two rounds
  std::int32_t num_rounds = 0;
  std::int32_t place = 0;  ///< 1: the highest; equal means share the best place (as in sports); 0: no mean
};

struct Extremes {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  std::vector<std::string> measure_names;
  std::vector<std::string> subjects;
  std::vector<std::string> groups;
  std::vector<ExtremeRow> rows;  ///< [measure, group, subject]
};

/// A round's mean is that over its cells (item, template, rephrasing) with a score; the replicate that is the mean of
/// the others is none. Collective. Throws InputError for names that the table does not have.
Extremes extremes_of(const Scores& scores, const sweep::ExtremesRequest& request);

/// Variables `extreme_...` over (measure, extreme_of, subject).
void write_extremes(results::Layout& layout, const Extremes& extremes);

/// The `most` subjects at each end.
std::string extremes_text(const Extremes& extremes, std::int64_t most);

}  // namespace stereosweep::findings
