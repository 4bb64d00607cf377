// Student's t of paired differences.
#pragma once

#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

struct PairedTest {
  double difference = nan;  ///< mean of left - right
  double t = nan;           ///< difference / (standard deviation (n - 1) / sqrt(n))
  double p = nan;           ///< two-sided, n - 1 degrees of freedom
  std::size_t n = 0;
  /// `too_few`: fewer than two pairs; `constant`: the differences vary by no more than 1e-12 of the values, and t
  /// has no value.
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// As scipy.stats.ttest_rel, which gives an infinite t where ours has the reason `constant`. Both spans have the same
/// length. Assumes that the differences are independent draws of a normal distribution.
PairedTest paired_t_test(std::span<const double> left, std::span<const double> right);

}  // namespace stereosweep::stats
