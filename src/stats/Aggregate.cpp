#include "stats/Aggregate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stereosweep::stats {

namespace {

/// Why `values` have no mean or median.
Reason fault(std::span<const double> values) {
  if (values.empty()) {
    return Reason::no_values;
  }
  return all_finite(values) ? Reason::ok : Reason::not_finite;
}

}  // namespace

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::ok:
      return "ok";
    case Reason::no_values:
      return "no_values";
    case Reason::too_few:
      return "too_few";
    case Reason::constant:
      return "constant";
    case Reason::not_finite:
      break;
  }
  return "not_finite";
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

Value mean(std::span<const double> values) {
  Value result{.reason = fault(values)};
  if (result.defined()) {
    result.value = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  return result;
}

Value median(std::span<const double> values) {
  Value result{.reason = fault(values)};
  if (!result.defined()) {
    return result;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto middle = sorted.size() / 2;
  result.value = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
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
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return values[left] < values[right]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    auto last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) {
      ++last;
    }
    for (auto position = first; position < last; ++position) {
      ranks[order[position]] = static_cast<double>(first + last + 1) / 2;
    }
    first = last;
  }
  return ranks;
}

}  // namespace stereosweep::stats
