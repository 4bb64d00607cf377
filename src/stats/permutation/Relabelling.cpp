#include "stats/permutation/Relabelling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

/// A place on the staircase: the next elements of both lists.
struct Place {
  const std::int64_t* left;   ///< first a that is not passed
  const std::int64_t* right;  ///< last b that is not passed
};

/// The part of two lists in which neither all nor no pairs reach the threshold.
struct Rectangle {
  const std::int64_t* left_begin;
  const std::int64_t* left_end;
  const std::int64_t* right_begin;
  const std::int64_t* right_end;

  std::size_t steps() const { return static_cast<std::size_t>((left_end - left_begin) + (right_end - right_begin)); }

  /// Where the walk stands after `steps`: a merge path, found by bisection.
  Place after(std::size_t steps, std::int64_t threshold) const {
    const auto total = static_cast<std::ptrdiff_t>(steps);
    auto low = std::max<std::ptrdiff_t>(0, total - (right_end - right_begin));
    auto high = std::min<std::ptrdiff_t>(total, left_end - left_begin);
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (left_begin[middle] + right_end[middle - total] >= threshold) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return {left_begin + low, right_end - 1 - (total - low)};
  }
};

/// One step: either b reaches the threshold with every a from here on, or a is too small for every b from here on.
inline void walk(Place& place, std::uint64_t& count, const std::int64_t* left_end, std::int64_t threshold) {
  const bool reaches = *place.left + *place.right >= threshold;
  const auto mask = -static_cast<std::int64_t>(reaches);
  count += static_cast<std::uint64_t>((left_end - place.left) & mask);
  place.right += mask;
  place.left += 1 + mask;
}

/// Four parts of the walk at once, since each is a chain of dependent loads.
std::uint64_t walk_all(const Rectangle& area, std::int64_t threshold) {
  constexpr std::size_t num_parts = 4;
  const auto steps = area.steps();
  const auto part = steps / num_parts;
  std::array<Place, num_parts> places;
  for (std::size_t i = 0; i < num_parts; ++i) {
    places[i] = area.after(i * part, threshold);
  }
  std::array<std::uint64_t, num_parts> counts{};
  for (std::size_t step = 0; step < part; ++step) {
    for (std::size_t i = 0; i < num_parts; ++i) {
      walk(places[i], counts[i], area.left_end, threshold);
    }
  }
  for (std::size_t step = num_parts * part; step < steps; ++step) {
    walk(places.back(), counts.back(), area.left_end, threshold);
  }
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

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

/// From both ends at once, without branches: two chains of dependent loads instead
/// of one, and nothing to predict where the outcome is random.
SortedSums merge_shifted(const SortedSums& left, const SortedSums& right, std::int64_t shift) {
  SortedSums merged(left.size() + right.size());
  const auto* low_left = left.begin();
  const auto* low_right = right.begin();
  const auto* high_left = left.end() - 1;
  const auto* high_right = right.end() - 1;
  auto* low = merged.begin();
  auto* high = merged.begin() + merged.size() - 1;
  const auto half = merged.size() / 2;
  for (std::size_t step = 0; step < half; ++step) {
    const std::int64_t first = *low_left;
    const std::int64_t second = *low_right + shift;
    const bool takes_first = first <= second;
    *low++ = takes_first ? first : second;
    low_left += static_cast<std::ptrdiff_t>(takes_first);
    low_right += static_cast<std::ptrdiff_t>(!takes_first);
    const std::int64_t third = *high_left;
    const std::int64_t fourth = *high_right + shift;
    const bool takes_fourth = fourth >= third;
    *high-- = takes_fourth ? fourth : third;
    high_right -= static_cast<std::ptrdiff_t>(takes_fourth);
    high_left -= static_cast<std::ptrdiff_t>(!takes_fourth);
  }
  if (merged.size() % 2 == 1) {  // the two chains meet at the last element
    *low = low_left <= high_left ? *low_left : *low_right + shift;
  }
  return merged;
}

std::uint64_t count_pairs(const SortedSums& left, const SortedSums& right, std::int64_t threshold) {
  const auto* right_all = std::lower_bound(right.begin(), right.end(), threshold - *left.begin());
  const auto* right_some = std::lower_bound(right.begin(), right.end(), threshold - *(left.end() - 1));
  std::uint64_t count = left.size() * static_cast<std::uint64_t>(right.end() - right_all);
  if (right_some == right_all) {
    return count;
  }
  const auto* left_some = std::lower_bound(left.begin(), left.end(), threshold - *(right_all - 1));
  const auto* left_all = std::lower_bound(left.begin(), left.end(), threshold - *right_some);
  count += static_cast<std::uint64_t>(left.end() - left_all) * static_cast<std::uint64_t>(right_all - right_some);
  return count + walk_all({left_some, left_all, right_some, right_all}, threshold);
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
