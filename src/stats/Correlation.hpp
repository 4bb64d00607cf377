// Correlations of two parallel lists, with two-sided p-values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/Undefined.hpp"

namespace stereosweep::stats {

struct Correlation {
  double value = std::numeric_limits<double>::quiet_NaN();
  double p = std::numeric_limits<double>::quiet_NaN();  ///< two-sided
  std::size_t n = 0;
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// Kendall's tau-b in O(n log n): (C - D) / sqrt((n0 - n1)(n0 - n2)) (Kendall 1945, Biometrika 33, 239-251; counting of
/// discordant pairs: Knight 1966, JASA 61, 436-439).
/// p: exact without ties for n <= 33 or at most one discordant or concordant pair (Kendall 1970, Rank Correlation
/// Methods, §5: inversions of a random permutation), otherwise normal with the variance corrected for ties; the rule by
/// which scipy.stats.kendalltau(method="auto") chooses. No continuity correction.
/// Undefined for n < 2, a constant side, or values that are not finite. Both spans have the same length.
Correlation kendall_tau_b(std::span<const double> left, std::span<const double> right);

/// Pearson's r; p from Student's t with n - 2 degrees of freedom (1 for n = 2).
Correlation pearson(std::span<const double> left, std::span<const double> right);

/// Spearman's rho: Pearson's r of average ranks.
Correlation spearman(std::span<const double> left, std::span<const double> right);

/// P(at most `inversions` inversions) of a uniformly random permutation of n.
double inversion_probability(std::size_t n, std::uint64_t inversions);

/// Regularised incomplete beta function I_x(a, b) for a, b > 0, 0 <= x <= 1 (continued fraction by the modified Lentz
/// method; Abramowitz & Stegun 26.5.8).
double incomplete_beta(double a, double b, double x);

}  // namespace stereosweep::stats
