#include "stats/PValues.hpp"

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/Lists.hpp"

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

double two_sided_student(double square, double degrees) {
  return square < 0.1 ? 1 - boost::math::ibeta(0.5, degrees / 2, square / (degrees + square))
                      : boost::math::ibeta(degrees / 2, 0.5, degrees / (degrees + square));
}

double student_beyond(double two_sided, double degrees) {
  double rest = 0;  // 1 - x, which keeps its digits where x is near 1
  // P(|T| > t) = I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t^2)
  const double x = boost::math::ibeta_inv(degrees / 2, 0.5, two_sided, &rest);
  return std::sqrt(degrees * rest / x);
}

double student_quantile(double probability, double degrees) { return student_beyond(2 * (1 - probability), degrees); }

double ratio_p(double ratio, double degrees, double other_degrees) {
  if (!(ratio >= 0) || !(degrees > 0) || !(other_degrees > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::isinf(ratio) ? 0 : boost::math::cdf(complement(boost::math::fisher_f(degrees, other_degrees), ratio));
}

namespace {

/// log10 of what the p at `rank` (from 0, ascending) of `count` is multiplied by; `harmonic`: a factor of all ranks.
double log10_factor(std::size_t rank, std::size_t count, double harmonic, Adjustment adjustment) {
  const auto tests = static_cast<double>(count);
  const auto place = static_cast<double>(rank);
  return std::log10(adjustment == Adjustment::holm ? tests - place : tests / (place + 1) * harmonic);
}

}  // namespace

std::vector<double> adjusted_p(std::span<const double> p, Adjustment adjustment) {
  const auto log10_p = base::mapped(p, [](double value) { return std::log10(value); });
  auto order = base::places_where(log10_p.size(), [&](auto i) { return !std::isnan(log10_p[i]); });
  std::stable_sort(order.begin(), order.end(), [&](auto left, auto right) { return log10_p[left] < log10_p[right]; });
  std::vector<double> adjusted(log10_p.size(), std::numeric_limits<double>::quiet_NaN());
  double harmonic = 1;
  for (std::size_t i = 2; adjustment == Adjustment::benjamini_yekutieli && i <= order.size(); ++i) {
    harmonic += 1 / static_cast<double>(i);
  }
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = log10_factor(rank, order.size(), harmonic, adjustment);
    adjusted[order[rank]] = std::min(0.0, log10_p[order[rank]] + factor);
  }
  if (adjustment == Adjustment::holm) {  // never below an earlier one
    for (std::size_t rank = 1; rank < order.size(); ++rank) {
      adjusted[order[rank]] = std::max(adjusted[order[rank]], adjusted[order[rank - 1]]);
    }
  } else {  // never above a later one
    for (auto rank = order.size(); rank-- > 1;) {
      adjusted[order[rank - 1]] = std::min(adjusted[order[rank - 1]], adjusted[order[rank]]);
    }
  }
  for (const auto place : order) {
    adjusted[place] = std::max(std::pow(10.0, adjusted[place]), p[place]);
  }
  return adjusted;
}

}  // namespace stereosweep::stats
