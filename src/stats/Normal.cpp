#include "stats/Normal.hpp"

#include <boost/math/special_functions/erf.hpp>

#include <cmath>
#include <numbers>

namespace stereosweep::stats {
namespace {

constexpr double largest_erfc = 30;  ///< erfc leaves the normal numbers at z = 37.5

/// Mills' ratio's inverse: z + 1/(z + 2/(z + 3/(z + ...))); 40 terms are exact to the last bit from z = 8 on.
double continued_fraction(double z) {
  double value = z;
  for (int term = 40; term >= 1; --term) {
    value = z + term / value;
  }
  return value;
}

}  // namespace

double log_upper_tail(double z) {
  if (z < 0) {
    return std::log1p(-0.5 * std::erfc(-z / std::numbers::sqrt2));
  }
  if (z > largest_erfc) {
    return std::isinf(z) ? -z : -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi) - std::log(continued_fraction(z));
  }
  return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
}

double log10_p_one_sided(double z) { return log_upper_tail(z) / std::numbers::ln10; }

double log10_p_two_sided(double z) { return (std::numbers::ln2 + log_upper_tail(std::abs(z))) / std::numbers::ln10; }

double normal_quantile(double probability) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability); }

}  // namespace stereosweep::stats
