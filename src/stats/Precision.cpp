#include "stats/Precision.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/Check.hpp"
#include "stats/Aggregate.hpp"

namespace stereosweep::stats {

namespace {

/// Share of the first k of a ranking for which `right` holds.
template <class Before, class Right>
Value share(std::size_t k, std::size_t n, Before before, Right right) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  const auto hits = std::count_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), right);
  return {static_cast<double>(hits) / static_cast<double>(k), Reason::ok};
}

}  // namespace

Precision precision_at(std::size_t k, std::span<const double> scores, std::span<const double> human_means) {
  STEREOSWEEP_ASSERT(k > 0 && scores.size() == human_means.size(), "scores and ratings differ in length");
  const auto n = scores.size();
  if (n < k || !all_finite(scores) || !all_finite(human_means)) {
    const Value undefined{.reason = n == 0 ? Reason::no_values : n < k ? Reason::too_few : Reason::not_finite};
    return {undefined, undefined, undefined, undefined};
  }
  Precision result;
  result.top = share(
      k, n, [&](auto a, auto b) { return scores[a] > scores[b]; },
      [&](auto index) { return human_means[index] > middle_rating; });
  result.bottom = share(
      k, n, [&](auto a, auto b) { return scores[a] < scores[b]; },
      [&](auto index) { return human_means[index] < middle_rating; });
  result.mean = {(result.top.value + result.bottom.value) / 2, Reason::ok};
  const auto decided =
      std::count_if(human_means.begin(), human_means.end(), [](double mean) { return mean != middle_rating; });
  result.chance = {static_cast<double>(decided) / (2 * static_cast<double>(n)), Reason::ok};
  return result;
}

}  // namespace stereosweep::stats
