// Where the variance of a measure comes from, and how reliable a subject's mean is with more or fewer templates and
// rephrasings. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "findings/Scores.hpp"
#include "findings/variance/VarianceShares.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// `none`: the interval of the variance between subjects is not above 0, so that nothing is reliable; `not_computed`:
/// one subject, one template and one rephrasing, or no variance at all.
enum class ReliabilityStatus : std::uint8_t { ok = 0, none = 1, not_computed = 2 };

/// Share of the variance of a subject's mean of one item that comes from the subject (Brennan 2001, Generalizability
/// Theory, ch. 4): where subjects are compared with each other, E rho^2; where the mean itself counts, Phi.
struct Reliability {
  double relative = stats::nan;
  double absolute = stats::nan;
};

/// One measure.
struct VarianceRow {
  VarianceShares shares;
  stats::VarianceComponent subjects;  ///< variance between subjects within items
  ReliabilityStatus status = ReliabilityStatus::not_computed;
  Reliability own;                          ///< with the templates and rephrasings of the table
  std::vector<Reliability> projected = {};  ///< [rephrasing_count, template_count]; NaN: see `own`, or the count is of
                                            ///< an axis with one label, of which nothing else is known
  /// Fewest with E rho^2 of 0.9 beside the table's own number of the others; NaN: no number is enough.
  double enough_templates = stats::nan;
  double enough_rephrasings = stats::nan;
};

struct Variance {
  results::AxisSchema measures;  ///< all of the table, or `variance_measure`
  std::vector<std::size_t> template_counts;
  std::vector<std::size_t> rephrasing_counts;  ///< the table's own first
  std::vector<VarianceRow> rows;               ///< [measure]
};

/// Of the measures that `comparison.variance` chooses. A replicate that is the mean of the others counts only where
/// they have no score. Throws InputError for measures that the table does not have.
Variance variance_of(const Scores& scores, const sweep::Comparison& comparison);

std::vector<Finding> findings_of(const Variance& variance, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
