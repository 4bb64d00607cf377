// Spread of repeated values, and the paired t-test.
#pragma once

#include <span>

#include "stats/Undefined.hpp"

namespace stereosweep::stats {

/// What the sum of squares is divided by: n - 1 (`sample`, the default everywhere here) or n (`population`).
enum class Divisor { sample, population };

/// `too_few`: one value has no sample deviation.
Value standard_deviation(std::span<const double> values, Divisor divisor = Divisor::sample);

/// Coefficient of variation: standard deviation / mean. `constant`: the mean is zero.
Value variation(std::span<const double> values, Divisor divisor = Divisor::sample);

struct PairedTest {
  double t = std::numeric_limits<double>::quiet_NaN();
  double p = std::numeric_limits<double>::quiet_NaN();  ///< two-sided, Student's t with n - 1 degrees of freedom
  double mean_difference = std::numeric_limits<double>::quiet_NaN();
  std::size_t n = 0;
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// t = mean(d) / (sd(d, n - 1) / sqrt(n)) of d = left - right. `constant`: all d are equal; t is then infinite with
/// p = 0, or NaN where they are zero (as scipy.stats.ttest_rel).
PairedTest paired_t(std::span<const double> left, std::span<const double> right);

}  // namespace stereosweep::stats
