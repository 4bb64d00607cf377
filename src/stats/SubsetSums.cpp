#include "stats/SubsetSums.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stereosweep::stats {
namespace {

constexpr std::int64_t beyond = std::int64_t{1} << 62;  ///< above every sum, below it with a minus

/// Merges `left` and `right` + shift. From both ends at once, without branches: two chains of dependent loads instead
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
  auto first = area.after(0, threshold);
  auto second = area.after(part, threshold);
  auto third = area.after(2 * part, threshold);
  auto fourth = area.after(3 * part, threshold);
  std::array<std::uint64_t, num_parts> counts{};
  for (std::size_t step = 0; step < part; ++step) {
    walk(first, counts[0], area.left_end, threshold);
    walk(second, counts[1], area.left_end, threshold);
    walk(third, counts[2], area.left_end, threshold);
    walk(fourth, counts[3], area.left_end, threshold);
  }
  for (std::size_t step = num_parts * part; step < steps; ++step) {
    walk(fourth, counts[3], area.left_end, threshold);
  }
  return counts[0] + counts[1] + counts[2] + counts[3];
}

}  // namespace

SortedSums::SortedSums(std::size_t size)
    : size_(size), values_(std::make_unique_for_overwrite<std::int64_t[]>(size + 2)) {
  values_[0] = -beyond;
  values_[size + 1] = beyond;
}

std::vector<SortedSums> subset_sums(std::span<const std::int64_t> items) {
  std::vector<SortedSums> sums;
  sums.emplace_back(1);
  *sums.front().begin() = 0;
  for (const auto item : items) {
    const auto largest = sums.size();
    sums.push_back(merge_shifted(SortedSums(0), sums[largest - 1], item));
    for (auto size = largest - 1; size >= 1; --size) {
      sums[size] = merge_shifted(sums[size], sums[size - 1], item);
    }
  }
  return sums;
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

}  // namespace stereosweep::stats
