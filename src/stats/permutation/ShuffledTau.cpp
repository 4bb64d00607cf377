#include "stats/permutation/ShuffledTau.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "base/Error.hpp"
#include "base/VectorClones.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {

namespace {

double pairs_of(std::int64_t count) { return static_cast<double>(count) * static_cast<double>(count - 1) / 2; }

class ShuffledTau {
 public:
  ShuffledTau(std::span<const double> left, std::span<const double> right, std::size_t num_columns)
      : num_columns_(num_columns), left_(tied_places(left)), taken_(left.size()) {
    std::ranges::copy_if(left_, std::back_inserter(left_ties_),
                         [](const TiedPlaces& tied) { return tied.place == tied.first && tied.last - tied.first > 1; });
    SortedNumbers sorted;
    sorted.sort(right);
    const auto numbers = sorted.numbers();
    for (std::size_t place = 0; place < numbers.size(); ++place) {
      const std::size_t cell = sorted.cells()[place];
      const bool is_last = place + 1 == numbers.size() || numbers[place + 1] != numbers[place];
      right_.push_back({cell / num_columns, cell % num_columns, is_last});
    }
  }

  /// Cell (r, c) of the right table meets cell (rows[r], columns[c]) of the left one. NaN where tau-b does not exist.
  STEREOSWEEP_VECTOR_CLONES double operator()(const std::vector<std::size_t>& rows,
                                              const std::vector<std::size_t>& columns) {
    taken_.clear();
    met_.clear();
    std::int64_t count = 0;
    std::int64_t difference = 0;  // concordant minus discordant pairs
    double right_ties = 0;
    for (const auto& cell : right_) {
      const auto& met = left_[rows[cell.row] * num_columns_ + columns[cell.column]];
      if (met.first < met.last) {
        const auto lower = taken_.below(met.first);
        const auto not_above = met.last - met.first == 1 ? lower : taken_.below(met.last);
        difference += lower - (count - not_above);
        met_.push_back(met.place);
      }
      if (cell.is_last) {  // cells that are equal on the right are no pairs
        for (const auto place : met_) {
          taken_.take(place);
        }
        const auto equal = static_cast<std::int64_t>(met_.size());
        count += equal;
        right_ties += pairs_of(equal);
        met_.clear();
      }
    }
    double left_ties = 0;
    for (const auto& ties : left_ties_) {
      left_ties += pairs_of(taken_.below(ties.last) - taken_.below(ties.first));
    }
    const auto pairs = pairs_of(count);
    return static_cast<double>(difference) / std::sqrt((pairs - left_ties) * (pairs - right_ties));
  }

 private:
  /// Of the right table; the last of the cells with its value.
  struct Cell {
    std::size_t row;
    std::size_t column;
    bool is_last;
  };
  std::size_t num_columns_;
  std::vector<TiedPlaces> left_;       ///< [cell]
  std::vector<TiedPlaces> left_ties_;  ///< one of every value that stands more than once
  std::vector<Cell> right_;            ///< ascending
  std::vector<std::size_t> met_;
  TakenPlaces taken_;
};

/// Orders in which the members of a block change places with one another, and blocks of one size as a whole; without
/// blocks all change places.
class BlockOrders {
 public:
  BlockOrders(std::size_t size, std::span<const std::size_t> blocks) {
    if (blocks.empty()) {
      blocks_.emplace_back(size);
      std::iota(blocks_.front().begin(), blocks_.front().end(), std::size_t{0});
    } else {
      STEREOSWEEP_ASSERT(blocks.size() == size, "each row (column) is in a block");
      blocks_.resize(*std::ranges::max_element(blocks) + 1);
      for (std::size_t place = 0; place < size; ++place) {
        blocks_[blocks[place]].push_back(place);
      }
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      by_size_[blocks_[block].size()].push_back(block);
    }
  }

  void draw(std::vector<std::size_t>& order, std::uint64_t seed, std::size_t draw) const {
    if (blocks_.size() == 1) {
      shuffle(order, seed, draw);
      return;
    }
    constexpr unsigned draw_bits = 32;
    std::uint64_t stream = draw;
    for (const auto& [size, own] : by_size_) {
      std::vector<std::size_t> from(own.size());
      std::vector<std::size_t> member_from(size);
      shuffle(from, seed, stream += std::uint64_t{1} << draw_bits);
      for (std::size_t place = 0; place < own.size(); ++place) {
        shuffle(member_from, seed, stream += std::uint64_t{1} << draw_bits);
        for (std::size_t member = 0; member < size; ++member) {
          order[blocks_[own[place]][member]] = blocks_[own[from[place]]][member_from[member]];
        }
      }
    }
  }

  double log_count() const {
    const auto log_orders = [](std::size_t number) { return std::lgamma(static_cast<double>(number) + 1); };
    double sum = 0;
    for (const auto& [size, own] : by_size_) {
      sum += static_cast<double>(own.size()) * log_orders(size) + log_orders(own.size());
    }
    return sum;
  }

 private:
  std::vector<std::vector<std::size_t>> blocks_;
  std::map<std::size_t, std::vector<std::size_t>> by_size_;
};

}  // namespace

double smallest_shuffled_p(std::size_t size, std::span<const std::size_t> blocks, const ShuffleSettings& settings) {
  const double counted = 2 * std::exp(-BlockOrders(size, blocks).log_count());
  return std::min(1.0, std::max(counted, 2 / (static_cast<double>(settings.draws) + 1)));
}

Value shuffled_tau_p(std::span<const double> left, std::span<const double> right, std::size_t num_columns,
                     Shuffle shuffled, const ShuffleSettings& settings, std::span<const std::size_t> blocks) {
  STEREOSWEEP_ASSERT(left.size() == right.size() && num_columns > 0 && left.size() % num_columns == 0,
                     "the two tables differ in shape");
  ShuffledTau tau(left, right, num_columns);
  std::vector<std::size_t> rows(left.size() / num_columns);
  std::vector<std::size_t> columns(num_columns);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const auto observed = tau(rows, columns);
  if (std::isnan(observed)) {
    return {nan, Reason::constant};
  }
  if ((shuffled == Shuffle::rows ? rows : columns).size() < 2) {
    return {nan, Reason::too_few};
  }
  const BlockOrders orders((shuffled == Shuffle::rows ? rows : columns).size(), blocks);
  constexpr double rounding = 1e-12;
  std::atomic<std::size_t> at_least = 0;
  std::atomic<std::size_t> at_most = 0;
  const auto num_threads = std::max(1U, settings.num_threads);
  on_threads(num_threads, [&](unsigned thread) {
    auto own_tau = tau;
    auto own_rows = rows;
    auto own_columns = columns;
    auto& moved = shuffled == Shuffle::rows ? own_rows : own_columns;
    std::size_t above = 0;
    std::size_t below = 0;
    for (std::size_t draw = thread; draw < settings.draws; draw += num_threads) {
      orders.draw(moved, settings.seed, draw);
      const auto value = own_tau(own_rows, own_columns);
      above += value < observed - rounding ? 0 : 1;  // a draw without a tau-b counts on either side
      below += value > observed + rounding ? 0 : 1;
    }
    at_least += above;
    at_most += below;
  });
  const auto fewer = static_cast<double>(std::min(at_least.load(), at_most.load()));
  return {std::min(1.0, 2 * (fewer + 1) / static_cast<double>(settings.draws + 1)), Reason::ok};
}

}  // namespace stereosweep::stats
