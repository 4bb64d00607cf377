// Kendall's tau-b of many lists of one length: places are found by sorting into bins, pairs are counted with bits. For
// permutations and bootstraps, where `kendall_tau_b` (with its p) would be most of the time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// Which places of a list are taken, and how many below a place.
class TakenPlaces {
 public:
  explicit TakenPlaces(std::size_t size) : words_(size / 64 + 1), below_((words_.size() / lanes + 1) * lanes) {}
  void clear() {
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(below_.begin(), below_.end(), 0);
  }
  void take(std::size_t place) {
    words_[place / 64] |= std::uint64_t{1} << (place % 64);
    const Counts taken = Counts{} + static_cast<std::int32_t>(place / 64);
    Counts word = {0, 1, 2, 3, 4, 5, 6, 7};
    for (std::size_t first = 0; first < below_.size(); first += lanes) {  // all of them: no branch to guess
      Counts counts;
      std::memcpy(&counts, &below_[first], sizeof counts);
      counts -= taken < word;  // -1 where it is
      std::memcpy(&below_[first], &counts, sizeof counts);
      word += static_cast<std::int32_t>(lanes);
    }
  }
  std::int64_t below(std::size_t place) const {
    const auto lower = words_[place / 64] & ((std::uint64_t{1} << (place % 64)) - 1);
    return below_[place / 64] + std::popcount(lower);
  }

 private:
  static constexpr std::size_t lanes = 8;
  using Counts = std::int32_t __attribute__((vector_size(lanes * sizeof(std::int32_t))));
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> below_;  ///< [word]: taken places before it
};

/// Where a number of a list stands among the sorted ones, and where those that equal it begin and end; `first` and
/// `last` are equal for NaN, which stand nowhere.
struct TiedPlaces {
  std::size_t place = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Parallel to `values`; of equal numbers the earlier one comes first.
std::vector<TiedPlaces> tied_places(std::span<const double> values);

/// The numbers of a list in ascending order; NaN are left out.
class SortedNumbers {
 public:
  /// Overwrites what was sorted before. No value is infinite.
  void sort(std::span<const double> values);
  std::size_t size() const { return cells_.size(); }
  /// Where the number at a place stands in the list; of equal numbers the earlier one comes first.
  std::span<const std::uint32_t> cells() const { return cells_; }
  std::span<const double> numbers() const { return keys_; }

 private:
  bool sort_into_bins(std::span<const double> values);

  std::vector<double> keys_;
  std::vector<std::uint32_t> cells_;
  std::vector<std::int32_t> bins_;
  std::vector<std::uint16_t> starts_;
};

/// Of the pairs of cells of two lists.
struct PairCounts {
  std::int64_t all = 0;
  std::int64_t discordant = 0;
  std::int64_t left_ties = 0;   ///< equal on the left
  std::int64_t right_ties = 0;  ///< equal on the right
  std::int64_t joint_ties = 0;  ///< equal on both
  /// Concordant minus discordant ones.
  std::int64_t difference() const { return all - left_ties - right_ties + joint_ties - 2 * discordant; }
};

/// Tau-b of a left list with many right lists (Knight 1966: both sorted, discordant pairs counted).
class TauCounter {
 public:
  explicit TauCounter(std::size_t num_cells) : num_cells_(num_cells), taken_(num_cells) {}
  /// [cell]; NaN: none.
  void set_left(std::span<const double> values);
  /// With `values` [cell], over the cells that both have.
  PairCounts count(std::span<const double> values);
  /// Over these. NaN where tau-b does not exist (fewer than two cells, a constant side).
  double tau_b(std::span<const double> values);

 private:
  /// Places of the left numbers that are equal.
  struct Ties {
    std::uint32_t first;
    std::uint32_t last;
  };
  std::size_t num_cells_;
  SortedNumbers left_;
  std::vector<std::uint32_t> ends_;  ///< [place of the left list]: where the numbers that equal it end
  std::vector<Ties> left_ties_;      ///< of every value that stands more than once
  TakenPlaces taken_;
  std::vector<double> values_;  ///< the right list in the order of the left one
  SortedNumbers right_;
};

}  // namespace stereosweep::stats
