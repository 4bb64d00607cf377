// Pairs of elements of two families of sorted lists whose sum reaches a threshold, where the families are too long to
// be written down: subset sums of more items than a list in memory has.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/SubsetSums.hpp"

namespace stereosweep::stats {

/// The elements [begin, end) of an ascending list, each plus `shift`.
struct ShiftedRun {
  const std::int64_t* begin = nullptr;
  const std::int64_t* end = nullptr;
  std::int64_t shift = 0;
  std::uint64_t size() const { return static_cast<std::uint64_t>(end - begin); }
};
using Runs = std::vector<ShiftedRun>;

std::uint64_t size_of(const Runs& runs);

/// Elements and threshold lie within +-2^61. Keeps its buffers (about 2 MB) from one call to the next.
class RunPairs {
 public:
  explicit RunPairs(std::int64_t threshold) : threshold_(threshold) {}
  /// Pairs (a, b), a of `left` with low <= a < high, b of `right`, with a + b >= threshold. Work is about linear in the
  /// elements of `left` and of `right` that lie where both outcomes occur.
  PartitionCount count(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high);

 private:
  PartitionCount count_between(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high);
  std::uint64_t count_few(const Runs& left, const Runs& right, std::int64_t low, std::int64_t width);
  void sort_needs(const Runs& right, std::int64_t low, std::int64_t width, unsigned bits);

  std::int64_t threshold_;
  std::vector<std::int64_t> needs_;    ///< least a that reaches the threshold with each b, minus `low`, by bucket
  std::vector<std::uint32_t> starts_;  ///< of the buckets
};

}  // namespace stereosweep::stats
