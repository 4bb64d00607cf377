// What an intersection's score has that its parts' scores do not: scores beyond both parts' (cao2022 §5.2, Q3, table
// A10), and what is left beyond their sum. Knows no probe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "findings/intersections/Parts.hpp"
#include "parallel/Communicator.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// One intersection and one item (or pole). All is over the cells (template, rephrasing) in which the intersection,
/// both parts and, where the table has one, the baseline have a score; so the three means are of the same sentences.
struct EmergenceRow {
  double score = stats::nan;       ///< mean of the intersection, in the measure's unit
  double first = stats::nan;       ///< of its first part
  double second = stats::nan;      ///< of its second part
  double emerge_max = stats::nan;  ///< score - max(first, second)
  double emerge_min = stats::nan;  ///< score - min(first, second)
  /// `emerge_max` (`emerge_min`) over its standard error: the difference to the part that it is taken from, templates
  /// as clusters of their cells; of equal parts the smaller z (the larger one). NaN: no spread.
  double z_max = stats::nan;
  double z_min = stats::nan;
  /// Two-sided: the larger of the two parts' p, the signs of templates' differences to a part flipped. 1 where the
  /// score is not beyond both parts' on the same side.
  double p = stats::nan;
  double p_max_t = stats::nan;      ///< adjusted by max-T over both parts of all rows
  double interaction = stats::nan;  ///< score - first - second (+ baseline)
  double interaction_z = stats::nan;
  double interaction_p = stats::nan;        ///< two-sided, signs of templates flipped
  double interaction_p_holm = stats::nan;   ///< adjusted over all rows
  double interaction_p_max_t = stats::nan;  ///< as `interaction_p_holm`
  std::int32_t num_templates = 0;
  std::int32_t num_cells = 0;
  /// `no_values`: no such cell; `too_few`: one template, no z and no p; `constant`: templates do not vary, no z.
  stats::Reason reason = stats::Reason::no_values;

  /// 1: above both parts, -1: below both, 0: neither, or no score.
  int side() const { return emerge_max > 0 ? 1 : emerge_min < 0 ? -1 : 0; }
};

/// Rows [intersection, item]. A family of tests is all that is returned. Collective over `ranks`, which share the
/// tests.
std::vector<EmergenceRow> emergence_of(const CellScores& cells, const IntersectionParts& parts,
                                       const sweep::Comparison& comparison, std::uint64_t seed,
                                       const parallel::Communicator& ranks);

}  // namespace stereosweep::findings
