// What an intersection's score has that its parts' scores do not: scores beyond both parts' (cao2022 §5.2, Q3, table
// A10), and what is left beyond their sum. Knows no probe.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/intersections/Parts.hpp"
#include "parallel/Communicator.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

/// One intersection and one item (or pole). All is over the cells (template, rephrasing) in which the intersection,
/// both parts and, where the table has one, the baseline have a score: each is one subject, so that this is the equal
/// composition of contrasts. Every p is that of stats::test_cells, over other templates and rephrasings.
struct EmergenceRow {
  double score = stats::nan;       ///< mean of the intersection, in the measure's unit
  double first = stats::nan;       ///< of its first part
  double second = stats::nan;      ///< of its second part
  double emerge_max = stats::nan;  ///< score - max(first, second)
  double emerge_min = stats::nan;  ///< score - min(first, second)
  /// Two-sided: the larger of the p of the differences to both parts. 1 where the score is not beyond both parts' on
  /// the same side.
  double p = stats::nan;
  double p_holm = stats::nan;       ///< adjusted over all rows
  double degrees = stats::nan;      ///< of freedom, the fewer of both differences
  double interaction = stats::nan;  ///< score - first - second (+ baseline)
  double interaction_low = stats::nan;
  double interaction_high = stats::nan;
  double interaction_p = stats::nan;       ///< two-sided
  double interaction_p_holm = stats::nan;  ///< adjusted over all rows
  double interaction_degrees = stats::nan;
  std::int32_t num_templates = 0;
  std::int32_t num_cells = 0;
  stats::Reason reason = stats::Reason::no_values;  ///< of the differences to both parts, as CellsTest
  stats::Reason interaction_reason = stats::Reason::no_values;

  /// 1: above both parts, -1: below both, 0: neither, or no score.
  int side() const { return emerge_max > 0 ? 1 : emerge_min < 0 ? -1 : 0; }
};

/// Rows [intersection, item]. A family of tests is all that is returned. Collective over `ranks`, which share the
/// intersections.
std::vector<EmergenceRow> emergence_of(const CellScores& cells, const IntersectionParts& parts, double confidence,
                                       const Workers& ranks);

}  // namespace stereosweep::findings
