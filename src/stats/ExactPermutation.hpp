// Exact one-sided permutation test of two sets of scores (guo2021 §8.1), by meeting in the middle: of all
// C(n + m, n) ways to choose n scores from the pool, how many have a sum of at least the observed one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/FixedScores.hpp"
#include "stats/SubsetSums.hpp"

namespace stereosweep::stats {

/// Numbers of partitions: C(50, 25) = 1.3e14, C(64, 32) = 1.8e18, C(130, 65) = 9.5e37.
__extension__ using PartitionCount = unsigned __int128;

/// In decimal.
std::string to_text(PartitionCount count);

/// C(n, k); n up to 130.
PartitionCount num_subsets(std::size_t n, std::size_t k);

/// Most scores of both sides together.
constexpr std::size_t max_exact_pool = 80;

/// The pool is cut in two lists of at most `max_list_items` scores, whose subset sums are kept sorted, and the rest,
/// whose 2^rest choices are gone through. A piece of work is one choice with one number of scores from the first list;
/// pieces are independent and numbered, and their counts add up to the same number whoever forms them.
/// `>=` holds within the tolerance of FixedScores; sums are exact integers, so no count depends on the pieces' order.
class ExactPermutation {
 public:
  /// 24: 0.27 GB of sums, the largest list that is faster than a smaller one; `num_threads` build them (one or two).
  static constexpr std::size_t default_list_items = 24;
  /// Throws InputError for more than `max_exact_pool` scores.
  ExactPermutation(std::span<const double> x, std::span<const double> y, unsigned num_threads = 1,
                   std::size_t max_list_items = default_list_items);

  PartitionCount num_partitions() const { return num_partitions_; }
  std::uint64_t num_pieces() const { return num_choices_ * first_.size(); }
  /// Steps of all walks, at most: what the test costs (about 1e9 a second and core).
  double num_steps() const;
  /// Partitions of one piece that reach the threshold.
  std::uint64_t count(std::uint64_t piece) const;
  /// Sum over the pieces of one of `num_ranks` shares, by `num_threads` threads. Local.
  PartitionCount count_share(unsigned rank, unsigned num_ranks, unsigned num_threads) const;

 private:
  FixedScores scores_;
  PartitionCount num_partitions_;
  std::vector<std::int64_t> fixed_;  ///< scores whose choices are gone through
  std::uint64_t num_choices_ = 1;
  std::vector<SortedSums> first_;
  std::vector<SortedSums> second_;
};

/// count / num_partitions.
double exact_p(PartitionCount count, PartitionCount num_partitions);

}  // namespace stereosweep::stats
