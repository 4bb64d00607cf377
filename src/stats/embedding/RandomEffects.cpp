#include "stats/embedding/RandomEffects.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

/// Weighted sums for one tau^2, weights w = 1 / (V + tau^2).
struct Weighted {
  double weights = 0;        ///< sum w
  double squares = 0;        ///< sum w^2
  double mean = 0;           ///< sum w y / sum w
  double q = 0;              ///< sum w (y - mean)^2
  double squared_q = 0;      ///< sum w^2 (y - mean)^2
  double log_variances = 0;  ///< sum ln(V + tau^2)
};

struct Studies {
  std::span<const double> effects;
  std::span<const double> variances;

  Weighted at(double tau_squared) const {
    Weighted sums;
    double products = 0;
    for (std::size_t i = 0; i < effects.size(); ++i) {
      const double weight = 1 / (variances[i] + tau_squared);
      sums.weights += weight;
      sums.squares += weight * weight;
      products += weight * effects[i];
      sums.log_variances -= std::log(weight);
    }
    sums.mean = products / sums.weights;
    for (std::size_t i = 0; i < effects.size(); ++i) {  // a second pass: sum w y^2 - mean sum w y would cancel
      const double weight = 1 / (variances[i] + tau_squared);
      const double square = (effects[i] - sums.mean) * (effects[i] - sums.mean);
      sums.q += weight * square;
      sums.squared_q += weight * weight * square;
    }
    return sums;
  }
};

/// Twice the derivative of the restricted log-likelihood.
double restricted_score(const Weighted& sums) { return sums.squared_q - sums.weights + sums.squares / sums.weights; }

double restricted_likelihood(const Weighted& sums) {
  return -0.5 * (sums.log_variances + std::log(sums.weights) + sums.q);
}

/// Where `function`, positive at `low` and not at `high`, changes sign: halved until the two ends are neighbours.
template <class Function>
double sign_change(const Function& function, double low, double high) {
  while (true) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) {
      return middle;
    }
    (function(middle) > 0 ? low : high) = middle;
  }
}

double moments_tau(const Weighted& fixed, std::size_t n) {
  const double excess = fixed.q - static_cast<double>(n - 1);
  return std::max(0.0, excess / (fixed.weights - fixed.squares / fixed.weights));
}

/// A tau^2 above every root: all squared differences in one, and the largest variance.
double upper_bound(const Studies& studies) {
  const auto [least, most] = std::minmax_element(studies.effects.begin(), studies.effects.end());
  const double range = *most - *least;
  return static_cast<double>(studies.effects.size()) * range * range +
         *std::max_element(studies.variances.begin(), studies.variances.end());
}

double paule_mandel_tau(const Studies& studies) {
  const auto excess = [&](double tau) { return studies.at(tau).q - static_cast<double>(studies.effects.size() - 1); };
  return excess(0) <= 0 ? 0 : sign_change(excess, 0, upper_bound(studies));
}

/// The likelihood can have several maxima: every sign change of the score on a grid with steps of 1.5 is followed.
double restricted_tau(const Studies& studies) {
  const auto score = [&](double tau) { return restricted_score(studies.at(tau)); };
  double best = 0;
  double best_likelihood = restricted_likelihood(studies.at(0));
  const double top = upper_bound(studies);
  double left = 0;
  bool left_rises = score(0) > 0;
  for (double right = 1e-9 * top; left < top; right = std::min(top, right * 1.5)) {
    const bool right_rises = score(right) > 0;
    if (left_rises && !right_rises) {
      const double root = sign_change(score, left, right);
      const double likelihood = restricted_likelihood(studies.at(root));
      if (likelihood > best_likelihood) {
        best = root;
        best_likelihood = likelihood;
      }
    }
    left = right;
    left_rises = right_rises;
  }
  return best;
}

double tau_squared(const Studies& studies, const Weighted& fixed, TauEstimator estimator) {
  if (studies.effects.size() == 1) {
    return 0;
  }
  switch (estimator) {
    case TauEstimator::reml:
      return restricted_tau(studies);
    case TauEstimator::paule_mandel:
      return paule_mandel_tau(studies);
    case TauEstimator::dersimonian_laird:
      break;
  }
  return moments_tau(fixed, studies.effects.size());
}

}  // namespace

RandomEffects combine_effects(std::span<const double> effects, std::span<const double> variances,
                              TauEstimator estimator, double confidence) {
  STEREOSWEEP_ASSERT(effects.size() == variances.size(), "one variance per effect size");
  RandomEffects result{.n = effects.size()};
  if (effects.empty()) {
    return result;
  }
  if (!all_finite(effects) || !all_finite(variances) ||
      !std::all_of(variances.begin(), variances.end(), [](double variance) { return variance > 0; })) {
    result.reason = Reason::not_finite;
    result.error_reason = Reason::not_finite;
    return result;
  }
  const Studies studies{effects, variances};
  const auto fixed = studies.at(0);
  result.fixed_effect = fixed.mean;
  result.q = fixed.q;
  const auto degrees = static_cast<double>(effects.size() - 1);
  result.i_squared = fixed.q > degrees ? (fixed.q - degrees) / fixed.q : 0;
  result.tau_squared = tau_squared(studies, fixed, estimator);
  const auto random = studies.at(result.tau_squared);
  result.effect = random.mean;
  result.reason = Reason::ok;
  if (std::all_of(effects.begin(), effects.end(), [&](double effect) { return effect == effects[0]; })) {
    result.error_reason = Reason::too_few;
    return result;
  }
  result.error_reason = Reason::ok;
  result.standard_error = 1 / std::sqrt(random.weights);
  result.z = result.effect / result.standard_error;
  const double reach = normal_quantile(0.5 + 0.5 * confidence) * result.standard_error;
  result.low = result.effect - reach;
  result.high = result.effect + reach;
  result.log10_p_two_sided = log10_p_two_sided(result.z);
  result.log10_p_one_sided = log10_p_one_sided(result.z);
  return result;
}

}  // namespace stereosweep::stats
