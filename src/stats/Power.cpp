#include "stats/Power.hpp"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <cmath>

#include "stats/PValues.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

constexpr double certain = 35;          // standard errors: the distribution cannot be computed much farther out
constexpr std::size_t most_signs = 50;  // beyond, every level is attained up to rounding

/// How many of the 2^(n - 1) values that a two-sided p can have are at most `level`.
double num_attained(double level, std::size_t n) { return std::floor(std::ldexp(level, static_cast<int>(n) - 1)); }

}  // namespace

double sign_flip_power(double effect, std::size_t n, double level) {
  const bool counts_signs = n <= most_signs;
  const double attained = n < 2 ? 0 : counts_signs ? num_attained(level, n) : HUGE_VAL;
  if (attained == 0 || std::isnan(effect)) {
    return attained == 0 ? 0 : nan;
  }
  const auto count = static_cast<double>(n);
  if (attained == 1) {
    return std::exp(count * log_upper_tail(-effect)) + std::exp(count * log_upper_tail(effect));
  }
  const double shift = std::abs(effect) * std::sqrt(count);
  if (shift > certain) {
    return 1;
  }
  const double reached = counts_signs ? std::ldexp(attained, 1 - static_cast<int>(n)) : level;
  const double end = student_quantile(1 - reached / 2, count - 1);
  const boost::math::non_central_t distribution(count - 1, shift);
  return boost::math::cdf(boost::math::complement(distribution, end)) + boost::math::cdf(distribution, -end);
}

std::optional<std::size_t> enough_differences(double effect, double power, double level, std::size_t most) {
  const auto is_enough = [&](std::size_t n) { return sign_flip_power(effect, n, level) >= power; };
  if (!is_enough(most)) {
    return std::nullopt;
  }
  std::size_t short_of = 0;  // power grows with n, and so does the level attained
  std::size_t enough = most;
  while (enough - short_of > 1) {
    const auto middle = short_of + (enough - short_of) / 2;
    (is_enough(middle) ? enough : short_of) = middle;
  }
  return enough;
}

double upper_variance_factor(double degrees, double probability) {
  return degrees / (2 * boost::math::gamma_p_inv(degrees / 2, 1 - probability));
}

}  // namespace stereosweep::stats
