// Effect sizes of many samples combined under a random-effects model (guo2021 §8.3): effect_i ~ N(mu, V_i + tau^2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// dersimonian_laird: by moments (DerSimonian and Laird 1986, Controlled Clinical Trials 7), the published choice.
/// reml: restricted maximum likelihood, the highest of all its maxima; paule_mandel: Q(tau^2) = n - 1 (Paule and
/// Mandel 1982, J. Res. NBS 87). All three cut off at zero.
enum class TauEstimator : std::uint8_t { dersimonian_laird, reml, paule_mandel };

struct RandomEffects {
  std::size_t n = 0;
  double effect = nan;          ///< mu: sum v effect / sum v, v = 1 / (V + tau^2)
  double standard_error = nan;  ///< (sum v)^-1/2; this, the interval, z and its p: NaN unless `has_error`
  double tau_squared = nan;
  double fixed_effect = nan;       ///< mu for tau^2 = 0
  double q = nan;                  ///< Cochran's Q: sum (effect - fixed_effect)^2 / V
  double i_squared = nan;          ///< max(0, (Q - (n - 1)) / Q); 0 for n = 1
  double z = nan;                  ///< effect / standard_error
  double low = nan;                ///< of the interval of mu, normal
  double high = nan;               ///< of the interval of mu, normal
  double log10_p_two_sided = nan;  ///< the paper's p
  double log10_p_one_sided = nan;  ///< the published code's p: large for a negative effect
  Reason reason = Reason::no_values;
  Reason error_reason = Reason::no_values;  ///< too_few: one sample, or samples that are all equal
  bool defined() const { return reason == Reason::ok; }
  bool has_error() const { return error_reason == Reason::ok; }
};

/// `not_finite`: an effect or a variance is not finite, or a variance is not positive. One sample is legal: tau^2 = 0,
/// and no error, since nothing says how far the next sample would lie. Both spans have the same length; the sums run in
/// their order.
RandomEffects combine_effects(std::span<const double> effects, std::span<const double> variances,
                              TauEstimator estimator, double confidence);

}  // namespace stereosweep::stats
