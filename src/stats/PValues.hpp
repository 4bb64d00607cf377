// P values: tails of the normal distribution in logarithms, so that a p of 10^-2000 keeps its digits, quantiles, and
// families of tests adjusted for their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/Lists.hpp"

namespace stereosweep::stats {

/// ln P(Z > z): erfc up to z = 30, above that the continued fraction of Laplace (Abramowitz & Stegun 26.2.14); for
/// z < 0 ln(1 - P(Z > |z|)). NaN for NaN.
double log_upper_tail(double z);

/// log10 P(Z > z): the one-sided p of the published CEAT code.
double log10_p_one_sided(double z);

/// log10 of 2 P(Z > |z|): the two-sided p of guo2021 §8.3.
double log10_p_two_sided(double z);

/// z with P(Z <= z) = probability, 0 < probability < 1.
double normal_quantile(double probability);

/// P(|T| > t) of Student's distribution, from t^2; `degrees` > 0, also no integer.
double two_sided_student(double square, double degrees);

/// t >= 0 with P(|T| > t) = two_sided, above 0.
double student_beyond(double two_sided, double degrees);

/// t with P(T <= t) = probability, 0.5 <= probability < 1.
double student_quantile(double probability, double degrees);

/// P(F > ratio) of the ratio of two mean squares that expect the same variance; NaN for a ratio of NaN or degrees that
/// are not above 0.
double ratio_p(double ratio, double degrees, double other_degrees);

/// holm: step-down Bonferroni, family-wise (Holm 1979, Scand. J. Statist. 6); benjamini_hochberg: step-up false
/// discovery rate (JRSS B 1995), for independent or positively dependent tests; benjamini_yekutieli: the same for any
/// dependence (Ann. Statist. 2001).
enum class Adjustment : std::uint8_t { holm, benjamini_hochberg, benjamini_yekutieli };

/// In the order of `p`, at most 1; never below its own p, although powers of ten round. A NaN stays NaN and counts as
/// no test.
std::vector<double> adjusted_p(std::span<const double> p, Adjustment adjustment);

/// `adjusted` of every row from its `p`: members of the rows (or of what they point to), or functions of them.
template <class Rows, class P, class Adjusted>
void adjust_rows(Rows&& rows, P p, Adjusted adjusted, Adjustment adjustment) {
  const auto found = adjusted_p(base::mapped(rows, p), adjustment);
  std::size_t place = 0;
  for (auto& row : rows) {
    std::invoke(adjusted, row) = found[place++];
  }
}

}  // namespace stereosweep::stats
