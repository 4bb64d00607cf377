// Numbers that may not exist, with the reason (no function of this room returns a NaN without one); means, medians,
// ranks, sums and spread; exact intervals of a probability.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::stats {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

enum class Reason : std::uint8_t {
  ok = 0,
  no_values = 1,   ///< nothing to compute from
  too_few = 2,     ///< fewer values than the statistic needs
  constant = 3,    ///< one side does not vary
  not_finite = 4,  ///< an input is NaN or infinite
};

std::string_view name_of(Reason reason);
/// Names of all, in their order: what a status of a file means.
std::vector<std::string> reason_names();

/// A number, or NaN with the reason.
struct Value {
  double value = nan;
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// Arithmetic mean, summed in long double: equal values, however many, have exactly themselves as their mean.
Value mean(std::span<const double> values);
/// Middle value; of an even count the mean of the middle two (as numpy.median).
Value median(std::span<const double> values);
/// ln(sum of exp(values)); -infinity for values that are all -infinity. `values` may hold -infinity, not NaN.
Value log_sum_exp(std::span<const double> values);
/// Ranks from 1; equal values share the mean of their ranks (as scipy.stats.rankdata).
std::vector<double> average_ranks(std::span<const double> values);

/// All are finite.
bool all_finite(std::span<const double> values);
/// Those that are, in their order.
std::vector<double> finite(std::span<const double> values);
/// The largest |value|; 0 without any.
double largest_magnitude(std::span<const double> values);
/// Of a table [row, column].
std::vector<double> column_of(std::span<const double> table, std::size_t column, std::size_t num_columns);

/// The sum of squares is divided by n - 1. `too_few`: one value has no deviation.
Value standard_deviation(std::span<const double> values);

/// Coefficient of variation: standard deviation / mean. `constant`: the mean is zero.
Value variation(std::span<const double> values);

struct ProbabilityInterval {
  double low = 0;
  double high = 1;
};

/// Clopper and Pearson (Biometrika 1934) for `successes` in a number of draws that was fixed beforehand.
ProbabilityInterval fixed_draws_interval(std::uint64_t successes, std::uint64_t draws, double confidence);

/// The same for inverse sampling: draws went on until the number of successes, at least one, was reached.
ProbabilityInterval fixed_successes_interval(std::uint64_t successes, std::uint64_t draws, double confidence);

}  // namespace stereosweep::stats
