// Sorted sums of all subsets of a few numbers, by the subsets' size, and counts of pairs from two such lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// Numbers of partitions: C(50, 25) = 1.3e14, C(64, 32) = 1.8e18, C(130, 65) = 9.5e37.
__extension__ using PartitionCount = unsigned __int128;

/// One ascending list; sums lie within +-2^60.
class SortedSums {
 public:
  explicit SortedSums(std::size_t size);
  std::size_t size() const { return size_; }
  std::int64_t* begin() { return values_.get() + 1; }
  const std::int64_t* begin() const { return values_.get() + 1; }
  const std::int64_t* end() const { return begin() + size_; }

 private:
  std::size_t size_;
  std::unique_ptr<std::int64_t[]> values_;  ///< one element more on each side, below and above every sum
};

/// result[k]: sums of all subsets of k of the `items`. Built item by item, new[k] = merge(old[k], old[k - 1] + item),
/// so that nothing is ever sorted; 8 bytes times 2^items at the end, less than that again while the last item is added.
std::vector<SortedSums> subset_sums(std::span<const std::int64_t> items);

/// Pairs (a, b) with a + b >= threshold, by one walk along the staircase that separates them: at most
/// left.size() + right.size() steps. The threshold lies within +-2^61.
std::uint64_t count_pairs(const SortedSums& left, const SortedSums& right, std::int64_t threshold);

}  // namespace stereosweep::stats
