// Exact permutation test of two sets of scores (guo2021 §8.1), by meeting in the middle: of all C(n + m, n) ways to
// choose n scores from the pool, how many have a sum of at least the observed one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {

/// Numbers of partitions: C(50, 25) = 1.3e14, C(64, 32) = 1.8e18, C(130, 65) = 9.5e37.
__extension__ using PartitionCount = unsigned __int128;

/// In decimal.
std::string to_text(PartitionCount count);

/// C(n, k); n up to 130.
PartitionCount num_subsets(std::size_t n, std::size_t k);

/// Most scores of both sides together.
constexpr std::size_t max_exact_pool = 80;

/// Subsets of both halves of a pool, whose sums one count goes through at most: about 1e8 a second and core. Each once,
/// in pools of 49 to 52 scores up to four times; counts of both tails are up to three.
std::uint64_t most_sums(std::size_t pool);

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
  std::uint64_t num_pieces() const;
  /// Sums that a count with any threshold goes through at most: those of subsets that are part of some partition.
  std::uint64_t num_sums() const;
  /// Partitions with a sum of at least `threshold` (FixedScores), over the pieces of one of `num_ranks` shares, by
  /// `num_threads` threads. Local.
  PartitionCount count_share(std::int64_t threshold, unsigned rank, unsigned num_ranks, unsigned num_threads) const;

 private:
  struct Half;
  struct Counter;

  FixedScores scores_;
  PartitionCount num_partitions_;
  std::shared_ptr<const Half> first_;
  std::shared_ptr<const Half> second_;
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
