#include "stats/embedding/EffectSize.hpp"

#include <algorithm>
#include <cmath>

namespace stereosweep::stats {

EffectSize effect_size(std::span<const double> x, std::span<const double> y) {
  EffectSize result;
  if (x.empty() || y.empty()) {
    return result;
  }
  if (!all_finite(x) || !all_finite(y)) {
    result.reason = Reason::not_finite;
    return result;
  }
  const double x_mean = mean(x).value;
  const double y_mean = mean(y).value;
  const auto n = static_cast<double>(x.size());
  const auto m = static_cast<double>(y.size());
  const double centre = (n * x_mean + m * y_mean) / (n + m);
  double squares = 0;
  double largest = 0;
  for (const auto side : {x, y}) {
    for (const double value : side) {
      squares += (value - centre) * (value - centre);
      largest = std::max(largest, std::abs(value));
    }
  }
  result.mean_difference = x_mean - y_mean;
  result.deviation = std::sqrt(squares / (n + m - 1));
  result.reason = result.deviation > 0x1p-50 * largest ? Reason::ok : Reason::constant;
  if (result.defined()) {
    result.value = result.mean_difference / result.deviation;
  }
  return result;
}

double largest_effect_size(std::size_t n, std::size_t m) {
  return std::sqrt(permutation_variance(n, m) * static_cast<double>(n + m - 1));
}

double permutation_variance(std::size_t n, std::size_t m) {
  return (static_cast<double>(n) + static_cast<double>(m)) / (static_cast<double>(n) * static_cast<double>(m));
}

double cohen_variance(double d, std::size_t n, std::size_t m) {
  return permutation_variance(n, m) + d * d / (2 * (static_cast<double>(n) + static_cast<double>(m)));
}

}  // namespace stereosweep::stats
