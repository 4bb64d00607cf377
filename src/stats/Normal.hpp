// Tails of the standard normal distribution that never underflow: a z of 1000 has log10 p = -217150.3, not p = 0.
#pragma once

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

}  // namespace stereosweep::stats
