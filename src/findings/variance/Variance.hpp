// Where the variance of a measure comes from, and how many templates or rephrasings are enough. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
#include "findings/variance/VarianceShares.hpp"
#include "stats/Summary.hpp"
#include "sweep/Contrast.hpp"

namespace stereosweep::findings {

/// How far a subject's mean of one item, relative to the other subjects' of that item, is off because other templates
/// (or rephrasings) could have been taken.
struct Sufficiency {
  /// [k - 1]: standard error with k of them, k = 1 .. as many as the table has; NaN: fewer than two, or one subject.
  std::vector<double> errors;
  /// Smallest k with an error of at most 5 % of the standard deviation between subjects, beyond the table's own number
  /// too; -1: none, subjects do not differ.
  std::int32_t enough = -1;
};

/// One measure.
struct VarianceRow {
  VarianceShares shares;
  double subject_deviation = stats::nan;  ///< between subjects' means of one item (n - 1), pooled over items
  Sufficiency templates;
  Sufficiency rephrasings;
};

struct Variance {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  std::vector<std::string> measure_names;
  std::vector<VarianceRow> rows;  ///< [measure]
};

/// Of the measures that `comparison.variance` chooses. A replicate that is the mean of the others counts only where
/// they have no score. Throws InputError for measures that the table does not have.
Variance variance_of(const Scores& scores, const sweep::Comparison& comparison);

/// The rows as variables over (measure, source), (measure, number of templates), ...
void write_variance(results::Layout& layout, const Variance& variance);

std::string variance_text(const Variance& variance, double confidence);

}  // namespace stereosweep::findings
