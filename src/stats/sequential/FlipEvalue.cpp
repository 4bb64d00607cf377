#include "stats/sequential/FlipEvalue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace stereosweep::stats {

double flip_e_value(std::span<const double> differences, std::size_t num_first) {
  constexpr std::array bets = {0.25, 0.5, 1.0, 2.0};
  const auto first = differences.first(std::min(num_first, differences.size()));
  const double square = std::inner_product(first.begin(), first.end(), first.begin(), 0.0);
  if (!(square > 0)) {
    return 1;
  }
  const double scale = std::sqrt(square / static_cast<double>(first.size()));
  double sum = 0;
  for (const double bet : bets) {
    double log_up = 0;  // of exp(l x) / cosh(l x); that of -l has the other sign before the sum of l x
    double log_down = 0;
    for (const double difference : differences) {
      const double stake = bet * difference / scale;
      log_up += std::log(2) - std::log1p(std::exp(-2 * stake));
      log_down += std::log(2) - std::log1p(std::exp(2 * stake));
    }
    sum += std::exp(log_up) + std::exp(log_down);
  }
  return sum / (2 * bets.size());
}

}  // namespace stereosweep::stats
