#include "stats/Summary.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/TauCounter.hpp"

namespace stereosweep::stats {

namespace {

constexpr std::array<std::string_view, 5> names_of_reasons = {"ok", "no_values", "too_few", "constant", "not_finite"};

/// Why `values` have no mean or median.
Reason fault(std::span<const double> values) {
  if (values.empty()) {
    return Reason::no_values;
  }
  return all_finite(values) ? Reason::ok : Reason::not_finite;
}

constexpr std::size_t few = 32;

/// Insertion without branches: those that cannot be foretold take most of the time where a pole has ten words.
double median_of_few(std::span<const double> values) {
  std::array<double, few> sorted;  // NOLINT(*-member-init): written before it is read
  for (std::size_t count = 0; count < values.size(); ++count) {
    auto largest = values[count];
    for (std::size_t place = 0; place < count; ++place) {
      const auto smaller = std::min(sorted[place], largest);
      largest = std::max(sorted[place], largest);
      sorted[place] = smaller;
    }
    sorted[count] = largest;
  }
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

std::string_view name_of(Reason reason) { return names_of_reasons.at(static_cast<std::size_t>(reason)); }

std::vector<std::string> reason_names() { return {names_of_reasons.begin(), names_of_reasons.end()}; }

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::vector<double> finite(std::span<const double> values) {
  std::vector<double> found;
  std::ranges::copy_if(values, std::back_inserter(found), [](double value) { return std::isfinite(value); });
  return found;
}

double largest_magnitude(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double largest, double value) { return std::max(largest, std::abs(value)); });
}

std::vector<double> column_of(std::span<const double> table, std::size_t column, std::size_t num_columns) {
  std::vector<double> cells;
  for (auto place = column; place < table.size(); place += num_columns) {
    cells.push_back(table[place]);
  }
  return cells;
}

Value mean(std::span<const double> values) {
  Value result{.reason = fault(values)};
  if (result.defined()) {
    const auto sum = std::accumulate(values.begin(), values.end(), 0.0L);
    result.value = static_cast<double>(sum / static_cast<long double>(values.size()));
  }
  return result;
}

Value median(std::span<const double> values) {
  Value result{.reason = fault(values)};
  if (!result.defined()) {
    return result;
  }
  if (values.size() <= few) {
    result.value = median_of_few(values);
    return result;
  }
  std::vector<double> parted(values.begin(), values.end());
  const auto middle = parted.begin() + static_cast<std::ptrdiff_t>(parted.size() / 2);
  std::nth_element(parted.begin(), middle, parted.end());
  result.value = parted.size() % 2 == 1 ? *middle : (*std::max_element(parted.begin(), middle) + *middle) / 2;
  return result;
}

Value log_sum_exp(std::span<const double> values) {
  if (values.empty()) {
    return {};
  }
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value) || value == INFINITY; })) {
    return {.reason = Reason::not_finite};
  }
  const auto largest = *std::max_element(values.begin(), values.end());
  if (largest == -INFINITY) {
    return {largest, Reason::ok};
  }
  double sum = 0;
  for (const auto value : values) {
    sum += std::exp(value - largest);
  }
  return {largest + std::log(sum), Reason::ok};
}

std::vector<double> average_ranks(std::span<const double> values) {
  return base::mapped(tied_places(values),
                      [](const TiedPlaces& places) { return static_cast<double>(places.first + places.last + 1) / 2; });
}

Value standard_deviation(std::span<const double> values) {
  const auto centre = mean(values);
  if (!centre.defined()) {
    return centre;
  }
  if (values.size() < 2) {
    return {.reason = Reason::too_few};
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - centre.value) * (value - centre.value);
  }
  return {std::sqrt(squares / static_cast<double>(values.size() - 1)), Reason::ok};
}

Value variation(std::span<const double> values) {
  auto deviation = standard_deviation(values);
  if (!deviation.defined()) {
    return deviation;
  }
  const double centre = mean(values).value;
  if (centre == 0) {
    return {.reason = Reason::constant};
  }
  return {deviation.value / centre, Reason::ok};
}

namespace {

/// Quantile of the beta distribution.
double beta_quantile(double probability, std::uint64_t a, std::uint64_t b) {
  return boost::math::ibeta_inv(static_cast<double>(a), static_cast<double>(b), probability);
}

/// `a`: of the distribution whose quantile is the upper end.
ProbabilityInterval interval_of(std::uint64_t successes, std::uint64_t draws, double confidence, std::uint64_t a) {
  const double outside = (1 - confidence) / 2;
  ProbabilityInterval interval;
  if (successes > 0) {
    interval.low = beta_quantile(outside, successes, draws - successes + 1);
  }
  if (successes < draws) {
    interval.high = beta_quantile(1 - outside, a, draws - successes);
  }
  return interval;
}

}  // namespace

ProbabilityInterval fixed_draws_interval(std::uint64_t successes, std::uint64_t draws, double confidence) {
  STEREOSWEEP_ASSERT(successes <= draws, "more successes than draws");
  return interval_of(successes, draws, confidence, successes + 1);
}

/// Low: P(this many draws or fewer) is what lies outside; high: P(this many or more).
ProbabilityInterval fixed_successes_interval(std::uint64_t successes, std::uint64_t draws, double confidence) {
  STEREOSWEEP_ASSERT(successes >= 1 && successes <= draws, "the last draw is a success");
  return interval_of(successes, draws, confidence, successes);
}

}  // namespace stereosweep::stats
