// What permutation tests relabel: scores as 64-bit fixed-point numbers, so that a sum is exact and does not depend on
// the order in which it is formed (counts are the same for every way to cut the work), sums of subsets in ascending
// lists, and random subsets by counter; and the threads that share the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/Random.hpp"

namespace stereosweep::stats {

/// Runs `work(thread)` for every thread number below `num_threads` (at least one); number 0 is the calling thread, the
/// others end before the call does. Where the system starts no more threads the calling one does their work as well.
/// `work` must not throw.
template <class Work>
void on_threads(unsigned num_threads, const Work& work) {
  std::vector<std::jthread> others;
  unsigned thread = 1;
  try {
    for (; thread < num_threads; ++thread) {
      others.emplace_back([&work, thread] { work(thread); });
    }
  } catch (const std::system_error&) {  // a limit of processes or memory: fewer threads, the same numbers
  }
  work(0U);
  for (; thread < num_threads; ++thread) {
    work(thread);
  }
}

/// Scores minus their mean, in units of 2^-exponent, the unit chosen so that all magnitudes together stay below 2^60.
/// Moving the origin changes no comparison: all subsets compared have the same number of scores.
struct FixedScores {
  std::vector<std::int64_t> values;  ///< x, then y
  std::size_t num_chosen = 0;        ///< size of x
  /// Least sum that counts as reaching the observed one: sum of x minus a tolerance of 1e-12 max(1, |sum of the raw
  /// x|), at least one unit per score (what rounding can move a sum by).
  std::int64_t threshold = 0;
  /// Least distance of a sum from the centre (0) that counts as reaching the observed one's: its magnitude minus the
  /// same tolerance. Zero or less: every sum does.
  std::int64_t far = 0;
};

/// Both sides non-empty, all values finite.
FixedScores fix_scores(std::span<const double> x, std::span<const double> y);

/// Sums of subsets in one ascending list, within +-2^60.
class SortedSums {
 public:
  explicit SortedSums(std::size_t size)
      : size_(size), values_(std::make_unique_for_overwrite<std::int64_t[]>(size + 2)) {
    values_[0] = -beyond;
    values_[size + 1] = beyond;
  }
  std::size_t size() const { return size_; }
  std::int64_t* begin() { return values_.get() + 1; }
  const std::int64_t* begin() const { return values_.get() + 1; }
  const std::int64_t* end() const { return begin() + size_; }

 private:
  static constexpr std::int64_t beyond = std::int64_t{1} << 62;  ///< above every sum, below it with a minus
  std::size_t size_;
  std::unique_ptr<std::int64_t[]> values_;  ///< one element more on each side, below and above every sum
};

/// The sums of `left`, and those of `right` + shift.
SortedSums merge_shifted(const SortedSums& left, const SortedSums& right, std::int64_t shift);

/// Pairs (a, b) with a + b >= threshold, which lies within +-2^61, by one walk along the staircase that separates them:
/// at most left.size() + right.size() steps.
std::uint64_t count_pairs(const SortedSums& left, const SortedSums& right, std::int64_t threshold);

/// `order` becomes a random permutation of its places, a function of (seed, stream) (Fisher and Yates).
void shuffle(std::span<std::size_t> order, std::uint64_t seed, std::uint64_t stream);

/// Draws subsets of `num_chosen` of `num_items` by a partial Fisher-Yates shuffle. Several steps share 64 bits: a step
/// takes the high half of bits * bound, the next one works with the low half, as long as the product of the bounds
/// stays below 2^34. A subset's probability is off by less than one part in 2^29 per 64 bits used.
class RandomSubsets {
 public:
  /// `key`: seed, purpose and test; sample and word are set by the draw.
  RandomSubsets(std::size_t num_items, std::size_t num_chosen, const base::DrawKey& key);

  /// What is drawn is the smaller part: the chosen items or, if `draws_complement`, those left out.
  bool draws_complement() const { return draws_complement_; }

  /// Sum of `values` [item] over what is drawn, draw < 2^32. `scratch` [item] is overwritten.
  std::int64_t sum(std::uint32_t draw, std::span<const std::int64_t> values, std::span<std::int64_t> scratch) const;

 private:
  base::DrawKey key_;
  bool draws_complement_;
  std::vector<std::uint32_t> bounds_;  ///< of the steps
  std::vector<std::uint8_t> starts_;   ///< 1: the step begins new 64 bits
};

}  // namespace stereosweep::stats
