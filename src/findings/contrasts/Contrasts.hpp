// Differences between any labels of a score table, with intervals and tests. Knows no probe.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/RateInterval.hpp"
#include "stats/Summary.hpp"
#include "stats/permutation/SignFlip.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// What is compared in one contrast, measure and item (ComparedCells.hpp).
struct ComparedNumbers {
  double left = stats::nan;        ///< means over the cells that are compared, in the measure's unit; with `minus`: of
  double right = stats::nan;       ///< the differences; 0 for a contrast with zero
  double difference = stats::nan;  ///< left - right
  std::int32_t num_cells = 0;      ///< (template, rephrasing) with a difference
  std::int32_t num_subjects = 0;   ///< of all sides together, whose scores are compared
  std::int32_t num_left_out = 0;   ///< subjects that a side takes, without enough cells that can be compared
  std::int32_t num_missing = 0;    ///< scores that the compared subjects lack in the cells that are compared
};

/// Of one contrast in one measure for one item; plain, as the ranks tell them each other. p, interval and degrees are
/// those of the difference over other templates and rephrasings, crossed. Reasons: `too_few` with fewer than two
/// templates; `constant`: no difference varies, no interval, and a p (1) only where all are 0.
struct ContrastNumbers : stats::CellsTest, ComparedNumbers {
  double effect = stats::nan;        ///< mean over templates of their differences over their standard deviation (n - 1)
  std::int32_t num_templates = 0;    ///< templates, or pairs of them, with a difference
  std::int32_t num_rephrasings = 0;  ///< rephrasings with a difference; 1 where the sides take different ones
  std::int32_t num_possible = 0;     ///< (template, rephrasing) that are compared
  std::int32_t num_answers = -1;  ///< sampled answers that were read in the scores of all sides; -1: none are counted
  /// The signs of templates flipped, each with all its rephrasings.
  stats::SignFlipResult flip = {.interval = {stats::nan, stats::nan}};
  stats::MeanTest over_subjects;  ///< Welch's t; needs two of each group (ComparedItem)
  double p_holm = stats::nan;     ///< `p` adjusted in its family, as the next two
  double p_benjamini_hochberg = stats::nan;
  double p_yekutieli = stats::nan;   ///< Benjamini and Yekutieli
  double p_flip_max_t = stats::nan;  ///< of `flip`, adjusted

  /// Below it no p of flipped signs can be.
  double smallest_p_flip() const { return num_templates < 2 ? stats::nan : std::ldexp(1.0, 1 - num_templates); }
};

struct ContrastRow : ContrastNumbers {
  std::string contrast;  ///< its name, and behind a colon the label of `each`
  std::string measure;
  std::string item;
  std::string claim;           ///< the difference in words; "": it is that of an earlier item with its sign turned
  std::string left_subjects;   ///< labels on the left side, the first six
  std::string right_subjects;  ///< of the right one; with zero: ""
};

/// Rows in the order of measures, contrasts, items. Throws InputError, listing every axis, label and measure of the
/// contrasts that the table does not have.
std::vector<ContrastRow> compare(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// How the differences of one row vary: templates (or pairs) are rows, rephrasings columns.
struct ContrastSpread {
  std::string contrast;
  std::string measure;
  std::string item;
  double difference = stats::nan;  ///< as ContrastRow's
  stats::CrossedSquares squares;
};

/// Of the rows of `compare`, in their order. Throws InputError as it does.
std::vector<ContrastSpread> spreads_of(const Scores& scores, const sweep::Comparison& comparison);

/// The rows' numbers but for those of subjects as columns; notes and warnings.
void add_differences(Finding& finding, const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison);

/// The rows over the axis `contrast`; of each measure a table by p.
Finding finding_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison);

/// What rows with fewer than two degrees of freedom cannot show; `variable`: where the degrees stand.
std::string few_degrees_text(const std::string& variable);

}  // namespace stereosweep::findings
