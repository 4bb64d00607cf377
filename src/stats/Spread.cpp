#include "stats/Spread.hpp"

#include <cmath>
#include <vector>

#include "base/Check.hpp"
#include "stats/Aggregate.hpp"
#include "stats/Correlation.hpp"

namespace stereosweep::stats {

Value standard_deviation(std::span<const double> values, Divisor divisor) {
  const auto centre = mean(values);
  if (!centre.defined()) {
    return centre;
  }
  const double count = static_cast<double>(values.size()) - (divisor == Divisor::sample ? 1 : 0);
  if (count < 1) {
    return {.reason = Reason::too_few};
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - centre.value) * (value - centre.value);
  }
  return {std::sqrt(squares / count), Reason::ok};
}

Value variation(std::span<const double> values, Divisor divisor) {
  auto deviation = standard_deviation(values, divisor);
  if (!deviation.defined()) {
    return deviation;
  }
  const double centre = mean(values).value;
  if (centre == 0) {
    return {.reason = Reason::constant};
  }
  return {deviation.value / centre, Reason::ok};
}

PairedTest paired_t(std::span<const double> left, std::span<const double> right) {
  STEREOSWEEP_ASSERT(left.size() == right.size(), "the two sides of a paired test differ in length");
  PairedTest test{.n = left.size()};
  if (left.size() < 2) {
    test.reason = left.empty() ? Reason::no_values : Reason::too_few;
    return test;
  }
  if (!all_finite(left) || !all_finite(right)) {
    test.reason = Reason::not_finite;
    return test;
  }
  std::vector<double> differences;
  for (std::size_t i = 0; i < left.size(); ++i) {
    differences.push_back(left[i] - right[i]);
  }
  const double n = static_cast<double>(left.size());
  test.mean_difference = mean(differences).value;
  const double deviation = standard_deviation(differences).value;
  test.t = test.mean_difference / (deviation / std::sqrt(n));
  if (deviation == 0) {
    test.reason = Reason::constant;
    test.p = std::isnan(test.t) ? test.t : 0;
    return test;
  }
  const double degrees = n - 1;
  test.p = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + test.t * test.t));
  test.reason = Reason::ok;
  return test;
}

}  // namespace stereosweep::stats
