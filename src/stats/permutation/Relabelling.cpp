#include "stats/permutation/Relabelling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/Summary.hpp"

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
  fixed.values =
      base::mapped(pool, [&](double value) -> std::int64_t { return std::llround(std::ldexp(value, exponent)); });
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

RandomSubsets::RandomSubsets(std::size_t num_items, std::size_t num_chosen, const base::DrawKey& key)
    : key_(key), draws_complement_(2 * num_chosen > num_items) {
  STEREOSWEEP_ASSERT(num_chosen <= num_items && num_items < (std::uint64_t{1} << 31U), "a subset of what there is");
  constexpr std::uint64_t largest_product = std::uint64_t{1} << 34U;
  std::uint64_t product = largest_product;
  const auto num_steps = draws_complement_ ? num_items - num_chosen : num_chosen;
  for (std::size_t step = 0; step < num_steps; ++step) {
    const std::uint64_t bound = num_items - step;
    const bool starts = product > largest_product / bound;
    product = starts ? bound : product * bound;
    bounds_.push_back(static_cast<std::uint32_t>(bound));
    starts_.push_back(starts ? 1 : 0);
  }
}

std::int64_t RandomSubsets::sum(std::uint32_t draw, std::span<const std::int64_t> values,
                                std::span<std::int64_t> scratch) const {
  __extension__ using Wide = unsigned __int128;
  std::copy(values.begin(), values.end(), scratch.begin());
  auto key = key_;
  key.sample = draw;
  key.word = 0;
  base::PhiloxCounter block{};
  std::uint64_t bits = 0;
  bool has_high_half = false;
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < bounds_.size(); ++step) {
    if (starts_[step] != 0) {
      if (!has_high_half) {
        block = base::philox_block(key);
        ++key.word;
      }
      const std::size_t half = has_high_half ? 2 : 0;
      bits = static_cast<std::uint64_t>(block[half + 1]) << 32U | block[half];
      has_high_half = !has_high_half;
    }
    const auto product = static_cast<Wide>(bits) * bounds_[step];
    bits = static_cast<std::uint64_t>(product);
    const auto taken = step + static_cast<std::size_t>(product >> 64U);
    sum += scratch[taken];
    scratch[taken] = scratch[step];
  }
  return sum;
}

void shuffle(std::span<std::size_t> order, std::uint64_t seed, std::uint64_t stream) {
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[base::random_below(left, seed, stream, left)]);
  }
}

}  // namespace stereosweep::stats
