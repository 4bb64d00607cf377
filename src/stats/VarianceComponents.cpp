#include "stats/VarianceComponents.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <cmath>

namespace stereosweep::stats {
namespace {

/// Quantile of chi square over its degrees of freedom: the ratio of a mean square to its expectation.
double square_quantile(double probability, double degrees) {
  return boost::math::quantile(boost::math::chi_squared(degrees), probability) / degrees;
}

double ratio_quantile(double probability, double degrees, double other_degrees) {
  return boost::math::quantile(boost::math::fisher_f(degrees, other_degrees), probability);
}

/// Squared distance from the component to one end of its interval. `outside`: the chance to lie beyond it. The lower
/// end is below by what added squares may be too large and squares that are taken off too small; the upper end turns
/// both round.
double squared_distance(std::span<const CountedSquare> squares, double outside, double direction) {
  const auto too_large = [&](double degrees) { return 1 - 1 / square_quantile(1 - outside, degrees); };
  const auto too_small = [&](double degrees) { return 1 / square_quantile(outside, degrees) - 1; };
  double sum = 0;
  for (const auto& square : squares) {
    const bool is_added = direction * square.coefficient > 0;
    const double own = is_added ? too_large(square.degrees) : too_small(square.degrees);
    sum += std::pow(own * square.coefficient * square.value, 2);
    for (const auto& other : squares) {
      if (!is_added || direction * other.coefficient >= 0) {
        continue;
      }
      const double quantile = ratio_quantile(1 - outside, square.degrees, other.degrees);
      const double both =
          (std::pow(quantile - 1, 2) - std::pow(own * quantile, 2) - std::pow(too_small(other.degrees), 2)) / quantile;
      sum += both * std::abs(square.coefficient * other.coefficient) * square.value * other.value;
    }
  }
  return std::max(sum, 0.0);
}

}  // namespace

VarianceComponent variance_component(std::span<const CountedSquare> squares, double confidence) {
  if (squares.empty()) {
    return {};
  }
  VarianceComponent component{0, 0, 0};
  for (const auto& square : squares) {
    component.value += square.coefficient * square.value;
  }
  const double outside = (1 - confidence) / 2;
  component.low = component.value - std::sqrt(squared_distance(squares, outside, 1));
  component.high = component.value + std::sqrt(squared_distance(squares, outside, -1));
  return component;
}

}  // namespace stereosweep::stats
