#include "stats/embedding/EffectSize.hpp"

#include <algorithm>
#include <cmath>

#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

struct Contrast {
  double difference = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();
  Reason reason = Reason::no_values;
};

/// Difference of the two means, deviation of both sides together (n - 1).
Contrast contrast(std::span<const double> left, std::span<const double> right) {
  Contrast result;
  if (left.empty() || right.empty()) {
    return result;
  }
  if (!all_finite(left) || !all_finite(right)) {
    result.reason = Reason::not_finite;
    return result;
  }
  const double left_mean = mean(left).value;
  const double right_mean = mean(right).value;
  const auto n = static_cast<double>(left.size());
  const auto m = static_cast<double>(right.size());
  const double centre = (n * left_mean + m * right_mean) / (n + m);
  double squares = 0;
  double largest = 0;
  for (const auto side : {left, right}) {
    for (const double value : side) {
      squares += (value - centre) * (value - centre);
      largest = std::max(largest, std::abs(value));
    }
  }
  result.difference = left_mean - right_mean;
  result.deviation = std::sqrt(squares / (n + m - 1));
  result.reason = result.deviation > 0x1p-50 * largest ? Reason::ok : Reason::constant;
  return result;
}

}  // namespace

EffectSize effect_size(std::span<const double> x, std::span<const double> y) {
  const auto both = contrast(x, y);
  EffectSize result{.mean_difference = both.difference, .deviation = both.deviation, .reason = both.reason};
  if (result.defined()) {
    result.value = both.difference / both.deviation;
  }
  return result;
}

WordAssociation word_association(std::span<const double> a, std::span<const double> b) {
  const auto both = contrast(a, b);
  WordAssociation result{.association = both.difference, .deviation = both.deviation, .reason = both.reason};
  if (result.defined()) {
    result.effect = both.difference / both.deviation;
  }
  return result;
}

double permutation_variance(std::size_t n, std::size_t m) {
  return (static_cast<double>(n) + static_cast<double>(m)) / (static_cast<double>(n) * static_cast<double>(m));
}

double cohen_variance(double d, std::size_t n, std::size_t m) {
  return permutation_variance(n, m) + d * d / (2 * (static_cast<double>(n) + static_cast<double>(m)));
}

}  // namespace stereosweep::stats
