#include "stats/Power.hpp"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr double certain = 35;       // standard errors: the distribution cannot be computed much farther out
constexpr double far_from_zero = 8;  // standard errors
constexpr double negligible = 1e-4;  // of a chance

/// An effect that passes for one, or does not: how often, and its mean square there over what it is on average.
struct Way {
  double weight = 1;
  double factor = 1;
  double ratio = 0;  ///< an F that says so
};

/// Where Boost's search for the inverse ends beside the root by rounding alone, it has the root.
using NearestRoot =
    boost::math::policies::policy<boost::math::policies::promote_double<false>,
                                  boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

/// `ratio`: of the expected mean squares, so that the F of a table is `ratio` times one of the F distribution.
std::array<Way, 2> ways_of(double ratio, double degrees, double rest_degrees, double level) {
  const double rest = boost::math::ibeta_inv(rest_degrees / 2, degrees / 2, level, NearestRoot());
  const double share = (1 - rest) / (1 - rest + ratio * rest);  // degrees F / (degrees F + rest_degrees), from which on
  const double passes = boost::math::ibetac(degrees / 2, rest_degrees / 2, share);
  const double above = boost::math::ibetac(degrees / 2 + 1, rest_degrees / 2 - 1, share);  // of the mean of F
  return {Way{passes, passes > 0 ? above / passes : 1, HUGE_VAL}, Way{1 - passes, (1 - above) / (1 - passes), 0}};
}

/// Of a test that takes the mean's variance to be `error.variance` on average, where it is `variance`.
double power_of(double mean, double variance, const MeanError& error, double level) {
  const double shift = std::abs(mean) / std::sqrt(variance);
  const double end = student_quantile(1 - level / 2, error.degrees) * std::sqrt(error.variance / variance);
  if (shift > certain) {  // all that still varies is the deviation
    return boost::math::gamma_p(error.degrees / 2, error.degrees / 2 * std::pow(shift / end, 2));
  }
  const boost::math::non_central_t distribution(error.degrees, shift);
  const double other_side = shift < far_from_zero ? boost::math::cdf(distribution, -end) : 0;
  return boost::math::cdf(boost::math::complement(distribution, end)) + other_side;
}

}  // namespace

double crossed_power(const PlannedMean& planned, std::size_t num_rows) {
  if (num_rows < 2 || std::isnan(planned.mean)) {
    return num_rows < 2 ? 0 : nan;
  }
  const auto expected = expected_squares(planned.variances, num_rows, planned.num_columns);
  if (planned.num_columns < 2 || expected.rest_degrees <= 2 || expected.rest <= 0) {
    const auto error = expected.error();
    return power_of(planned.mean, error.variance, error, planned.level);
  }
  const double variance = expected.rows + expected.columns - expected.rest;
  const double level = evidence_level(std::min(num_rows, planned.num_columns));
  double power = 0;
  for (const auto& row : ways_of(expected.row_ratio, expected.row_degrees, expected.rest_degrees, level)) {
    for (const auto& column : ways_of(expected.column_ratio, expected.column_degrees, expected.rest_degrees, level)) {
      const double weight = row.weight * column.weight;
      if (weight > negligible) {
        auto squares = complete_squares(expected.rows * row.factor, expected.columns * column.factor, expected.rest,
                                        num_rows, planned.num_columns);
        squares.row_ratio = row.ratio;
        squares.column_ratio = column.ratio;
        power += weight * power_of(planned.mean, variance, squares.error(), planned.level);
      }
    }
  }
  return power;
}

std::optional<std::size_t> enough_rows(const PlannedMean& planned, double power, std::size_t most) {
  // the power need not grow with the rows where columns have effects: their degrees are few
  return fewest_enough(2, most, [&](std::size_t num_rows) { return crossed_power(planned, num_rows) >= power; });
}

}  // namespace stereosweep::stats
