#include "findings/Evidence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/PValues.hpp"

namespace stereosweep::findings {

std::vector<std::int32_t> evidence_ranks(std::span<const double> p, std::span<const double> effects) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t place) {  // NaN has no order
    return std::pair(std::isnan(p[place]) ? 2 : p[place], std::isnan(effects[place]) ? 1 : -std::abs(effects[place]));
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::int32_t> ranks(p.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = static_cast<std::int32_t>(rank) + 1;
  }
  return ranks;
}

std::vector<double> adjusted_for_choice(std::span<const double> p) {
  std::vector<double> log10_p(p.size());
  std::ranges::transform(p, log10_p.begin(), [](double value) { return std::log10(value); });
  auto adjusted = stats::adjust_log10_p(log10_p, stats::Adjustment::holm);
  for (std::size_t place = 0; place < p.size(); ++place) {
    adjusted[place] = std::max(std::pow(10.0, adjusted[place]), p[place]);
  }
  return adjusted;
}

}  // namespace stereosweep::findings
