#include "stats/PairedTest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/Error.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {

PairedTest paired_t_test(std::span<const double> left, std::span<const double> right) {
  STEREOSWEEP_ASSERT(left.size() == right.size(), "the values are pairs");
  PairedTest result;
  result.n = left.size();
  if (left.empty()) {
    return result;
  }
  std::vector<double> differences(left.size());
  std::ranges::transform(left, right, differences.begin(), std::minus());
  if (!all_finite(differences)) {
    result.reason = Reason::not_finite;
    return result;
  }
  result.difference = mean(differences).value;
  const double deviation = standard_deviation(differences).value;
  if (differences.size() < 2) {
    result.reason = Reason::too_few;
    return result;
  }
  double largest = 0;
  for (const auto values : {left, right}) {
    for (const double value : values) {
      largest = std::max(largest, std::abs(value));
    }
  }
  if (!(deviation > 1e-12 * largest)) {  // else the rounding of equal differences had a t of 1e16
    result.reason = Reason::constant;
    return result;
  }
  const auto degrees = static_cast<double>(differences.size() - 1);
  result.t = result.difference / (deviation / std::sqrt(static_cast<double>(differences.size())));
  result.p = two_sided_student(result.t * result.t, degrees);
  result.reason = Reason::ok;
  return result;
}

}  // namespace stereosweep::stats
