#include "stats/RateInterval.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>

#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr double at_an_end = 1e-12;        // a share of the scale nearer to an end is at the end
constexpr double least_variation = 1e-12;  // of a mean: cells that vary by less are equal
constexpr double no_variance = 1e-24;      // of a share: its square

/// Successes and failures, which need not be whole, that say of a share of the scale what its variance does.
struct EffectiveDraws {
  double share = nan;
  double number = nan;
  Reason reason = Reason::not_finite;

  bool exist() const { return reason == Reason::ok || reason == Reason::constant; }
  double successes() const { return share * number; }
  double failures() const { return number - successes(); }
};

EffectiveDraws draws_of(double mean, const MeanError& error, std::size_t num_units, const ScaleEnds& ends,
                        double confidence) {
  const double range = ends.highest - ends.lowest;
  const double share = (mean - ends.lowest) / range;
  if (num_units < 2) {
    return {nan, nan, Reason::too_few};
  }
  if (!(share > -at_an_end && share < 1 + at_an_end)) {
    return {};
  }
  const double inside = std::clamp(share, 0.0, 1.0);
  const double variance = error.variance / (range * range);
  const auto units = static_cast<double>(num_units);
  if (variance <= no_variance || inside < at_an_end || 1 - inside < at_an_end) {
    return {inside, units, Reason::constant};
  }
  if (!std::isfinite(variance) || !(error.degrees > 0)) {
    return {};
  }
  const double upper = (1 + confidence) / 2;
  const double number = inside * (1 - inside) / variance * units / (units - 1);  // an estimated variance's divisor
  const double ratio = student_quantile(upper, std::max(number - 1, error.degrees)) /
                       student_quantile(upper, error.degrees);  // at most 1
  return {inside, number * ratio * ratio, Reason::ok};
}

/// Clopper and Pearson's interval, and twice the smaller tail of the binomial distribution with the share that stands
/// for 0.
CellsTest test_draws(const EffectiveDraws& draws, double mean, const ScaleEnds& ends, double confidence) {
  CellsTest found;
  found.reason = draws.reason;
  if (!draws.exist()) {
    return found;
  }
  const double outside = (1 - confidence) / 2;
  const double range = ends.highest - ends.lowest;
  const bool at_lowest = draws.share < at_an_end;
  const bool at_highest = 1 - draws.share < at_an_end;
  const double low = at_lowest ? 0 : boost::math::ibeta_inv(draws.successes(), draws.failures() + 1, outside);
  const double high = at_highest ? 1 : boost::math::ibeta_inv(draws.successes() + 1, draws.failures(), 1 - outside);
  // the mean of equal scores may lie beside them by at_an_end
  found.low = std::min(mean, ends.lowest + range * low);
  found.high = std::max(mean, ends.lowest + range * high);
  const double zero = -ends.lowest / range;
  if (zero > 0 && zero < 1) {
    const double reached = at_lowest ? 1 : boost::math::ibeta(draws.successes(), draws.failures() + 1, zero);
    const double not_passed = at_highest ? 1 : boost::math::ibetac(draws.successes() + 1, draws.failures(), zero);
    found.p = std::min(1.0, 2 * std::min(reached, not_passed));
  }
  return found;
}

}  // namespace

CellsTest test_cells(const CrossedSquares& squares, double mean, const std::optional<ScaleEnds>& ends,
                     double confidence) {
  CellsTest found;
  const std::size_t fewest_cells = ends ? 3 : 2;
  if (squares.num_rows < 2 || squares.num_cells < fewest_cells) {
    found.reason = squares.num_cells == 0 ? Reason::no_values : Reason::too_few;
    return found;
  }
  const auto num_cells = static_cast<double>(squares.num_cells);
  const bool varies = std::sqrt(squares.cells_alone * num_cells) > least_variation * std::abs(mean);
  const auto error = varies ? squares.error() : MeanError{0, nan};
  found.degrees = error.degrees;
  if (ends) {
    found = test_draws(draws_of(mean, error, squares.num_rows, *ends, confidence), mean, *ends, confidence);
    found.degrees = error.degrees;
    return found;
  }
  static_cast<MeanTest&>(found) = test_mean(mean, error, confidence);
  found.p = varies || mean != 0 ? found.p : 1;
  found.reason = !std::isfinite(squares.cells_alone) ? Reason::not_finite
                 : !varies                           ? Reason::constant
                 : std::isnan(found.low)             ? Reason::too_few
                                                     : Reason::ok;
  return found;
}

}  // namespace stereosweep::stats
