#include "stats/RateInterval.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>

#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr double at_an_end = 1e-12;    // a share of the scale nearer to an end is at the end
constexpr double no_variance = 1e-24;  // of a share: its square

/// Clopper and Pearson, of numbers that need not be whole.
Interval of_draws(double share, double num_draws, double confidence) {
  const double outside = (1 - confidence) / 2;
  const double successes = share * num_draws;
  const double failures = num_draws - successes;
  return {share < at_an_end ? 0 : boost::math::ibeta_inv(successes, failures + 1, outside),
          1 - share < at_an_end ? 1 : boost::math::ibeta_inv(successes + 1, failures, 1 - outside), Reason::ok};
}

}  // namespace

Interval interval_between_ends(double mean, const MeanError& error, std::size_t num_units, const ScaleEnds& ends,
                               double confidence) {
  const double range = ends.highest - ends.lowest;
  const double share = (mean - ends.lowest) / range;
  if (num_units < 2) {
    return {nan, nan, Reason::too_few};
  }
  if (!(share > -at_an_end && share < 1 + at_an_end)) {
    return {nan, nan, Reason::not_finite};
  }
  const double inside = std::clamp(share, 0.0, 1.0);
  const double variance = error.variance / (range * range);
  auto interval = Interval{nan, nan, Reason::not_finite};
  if (variance <= no_variance || inside < at_an_end || 1 - inside < at_an_end) {
    interval = of_draws(inside, static_cast<double>(num_units), confidence);
    interval.reason = Reason::constant;
  } else if (std::isfinite(variance) && error.degrees > 0) {
    const double upper = (1 + confidence) / 2;
    const auto units = static_cast<double>(num_units);
    const double draws = inside * (1 - inside) / variance * units / (units - 1);  // an estimated variance's divisor
    const double ratio = student_quantile(upper, std::max(draws - 1, error.degrees)) /
                         student_quantile(upper, error.degrees);  // at most 1
    interval = of_draws(inside, draws * ratio * ratio, confidence);
  }
  // the mean of equal scores may lie beside them by rounding
  interval.low = std::min(mean, ends.lowest + range * interval.low);
  interval.high = std::max(mean, ends.lowest + range * interval.high);
  return interval;
}

}  // namespace stereosweep::stats
