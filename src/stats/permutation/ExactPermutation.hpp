// Exact permutation test of two sets of scores (guo2021 §8.1), by meeting in the middle: of all C(n + m, n) ways to
// choose n scores from the pool, how many have a sum of at least the observed one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {

/// Numbers of partitions: C(50, 25) = 1.3e14, C(64, 32) = 1.8e18, C(130, 65) = 9.5e37.
__extension__ using PartitionCount = unsigned __int128;

/// The parts of the test, for itself and its tests: sorted sums of all subsets of a few numbers, by the subsets' size.
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

/// Beyond what a list in memory has, sums are pairs from two families of sorted lists that are never written down: the
/// elements [begin, end) of an ascending list, each plus `shift`.
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

/// In decimal.
std::string to_text(PartitionCount count);

/// C(n, k); n up to 130.
PartitionCount num_subsets(std::size_t n, std::size_t k);

/// Most scores of both sides together.
constexpr std::size_t max_exact_pool = 80;

/// The pool is cut in two halves. Sums of subsets of at most `max_list_items` scores of a half are kept as sorted
/// lists; its other scores, where there are some, move those lists: 2^rest runs, which are merged range by range and
/// never as a whole. A piece of work is one number of scores from the first half and, with runs, one range of their
/// sums; pieces are independent and numbered, and their counts add up to the same number whoever forms them. Sums are
/// exact integers, so no count depends on the pieces' order.
class ExactPermutation {
 public:
  /// 24: 0.27 GB of sums; `num_threads` build them (one or two).
  static constexpr std::size_t default_list_items = 24;
  /// Throws InputError for more than `max_exact_pool` scores.
  ExactPermutation(std::span<const double> x, std::span<const double> y, unsigned num_threads = 1,
                   std::size_t max_list_items = default_list_items);

  const FixedScores& scores() const { return scores_; }
  PartitionCount num_partitions() const { return num_partitions_; }
  std::uint64_t num_pieces() const { return (first_.size + 1) * num_slices_; }
  /// Steps of one count, at most: what it costs (about 1e9 a second and core).
  double num_steps() const;
  /// Partitions with a sum of at least `threshold` (FixedScores), over the pieces of one of `num_ranks` shares, by
  /// `num_threads` threads. Local.
  PartitionCount count_share(std::int64_t threshold, unsigned rank, unsigned num_ranks, unsigned num_threads) const;

 private:
  /// One choice of the scores that are in no list.
  struct Choice {
    std::int64_t sum = 0;
    std::size_t size = 0;
  };
  struct Half {
    std::size_t size = 0;  ///< scores
    std::vector<SortedSums> lists;
    std::vector<Choice> choices;
    /// What `choice` leaves of `chosen` scores, from the lists; null where they have no such number.
    const SortedSums* list(std::size_t chosen, const Choice& choice) const;
    /// Sums of all its subsets of `chosen` scores.
    Runs runs(std::size_t chosen) const;
    std::uint64_t num_sums() const;
  };
  static Half make_half(std::span<const std::int64_t> items, std::size_t max_list_items);
  PartitionCount count(std::uint64_t piece, std::int64_t threshold, RunPairs& pairs) const;

  FixedScores scores_;
  PartitionCount num_partitions_;
  Half first_;
  Half second_;
  std::uint64_t num_slices_ = 1;  ///< ranges of sums that are pieces of their own
};

/// How many partitions reach the observed effect, each within the tolerance of FixedScores.
struct ReachingPartitions {
  PartitionCount one_sided = 0;  ///< mean_X - mean_Y >= the observed one
  PartitionCount two_sided = 0;  ///< its magnitude is at least the observed one
};
/// `count(threshold)`: partitions with a sum of at least that; called once to three times, as often on every rank.
ReachingPartitions count_reaching(const ExactPermutation& exact,
                                  const std::function<PartitionCount(std::int64_t threshold)>& count);

/// count / num_partitions.
double exact_p(PartitionCount count, PartitionCount num_partitions);

}  // namespace stereosweep::stats
