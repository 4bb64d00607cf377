// Means, medians, sums of logarithms.
#pragma once

#include <span>
#include <vector>

#include "stats/Undefined.hpp"

namespace stereosweep::stats {

/// Arithmetic mean.
Value mean(std::span<const double> values);
/// Middle value; of an even count the mean of the middle two (as numpy.median).
Value median(std::span<const double> values);
/// ln(sum of exp(values)); -infinity for values that are all -infinity. `values` may hold -infinity, not NaN.
Value log_sum_exp(std::span<const double> values);
/// Ranks from 1; equal values share the mean of their ranks (as scipy.stats.rankdata).
std::vector<double> average_ranks(std::span<const double> values);

/// All are finite.
bool all_finite(std::span<const double> values);

}  // namespace stereosweep::stats
