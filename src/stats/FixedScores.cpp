#include "stats/FixedScores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/Check.hpp"
#include "stats/Aggregate.hpp"

namespace stereosweep::stats {

FixedScores fix_scores(std::span<const double> x, std::span<const double> y) {
  STEREOSWEEP_ASSERT(!x.empty() && !y.empty(), "a permutation test needs two sides");
  STEREOSWEEP_ASSERT(all_finite(x) && all_finite(y), "a permutation test needs finite scores");
  std::vector<double> pool(x.begin(), x.end());
  pool.insert(pool.end(), y.begin(), y.end());
  const double centre = mean(pool).value;
  double magnitude = 0;
  for (auto& value : pool) {
    value -= centre;
    magnitude += std::abs(value);
  }
  constexpr int bits = 59;
  constexpr int largest_exponent = 1000;  // of scores that are all (almost) equal
  const int exponent = magnitude > 0 ? std::min(bits - std::ilogb(magnitude) - 1, largest_exponent) : 0;
  FixedScores fixed;
  fixed.num_chosen = x.size();
  fixed.unit = std::ldexp(1.0, -exponent);
  for (const double value : pool) {
    fixed.values.push_back(std::llround(std::ldexp(value, exponent)));
  }
  const double observed = std::accumulate(x.begin(), x.end(), 0.0);
  const double tolerance = std::ldexp(1e-12 * std::max(1.0, std::abs(observed)), exponent);
  const auto least = static_cast<double>(pool.size());
  const double most = std::ldexp(1.0, bits + 1);  // every sum reaches the threshold then
  const auto slack = static_cast<std::int64_t>(std::clamp(tolerance, least, most));
  const auto sum = std::accumulate(fixed.values.begin(), fixed.values.begin() + static_cast<std::ptrdiff_t>(x.size()),
                                   std::int64_t{0});
  fixed.threshold = sum - slack;
  fixed.far = std::abs(sum) - slack;
  return fixed;
}

}  // namespace stereosweep::stats
