#include "stats/permutation/ShuffledTau.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {

namespace {

/// Tau-b of a table with another one whose rows and columns stand in any order.
class ShuffledTau {
 public:
  ShuffledTau(std::span<const double> left, std::span<const double> right, std::size_t num_columns)
      : num_columns_(num_columns), moved_(left.size()), counter_(left.size()) {
    for (const auto& tied : tied_places(left)) {  // ranks lie evenly, which are sorted the fastest
      ranks_.push_back(tied.first < tied.last ? static_cast<double>(tied.first) : nan);
    }
    counter_.set_left(right);
  }

  /// Cell (r, c) of the right table meets cell (rows[r], columns[c]) of the left one. NaN where tau-b does not exist.
  double operator()(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns) {
    auto moved = moved_.begin();
    for (const auto row : rows) {
      for (const auto column : columns) {
        *moved++ = ranks_[row * num_columns_ + column];
      }
    }
    return counter_.tau_b(moved_);
  }

 private:
  std::size_t num_columns_;
  std::vector<double> ranks_;  ///< [cell] of the left table
  std::vector<double> moved_;
  TauCounter counter_;
};

/// Orders in which the members of a block change places with one another, and blocks of one size as a whole; without
/// blocks all change places.
class BlockOrders {
 public:
  BlockOrders(std::size_t size, std::span<const std::size_t> blocks) {
    if (blocks.empty()) {
      blocks_.push_back(base::places_below(size));
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
  auto rows = base::places_below(left.size() / num_columns);
  auto columns = base::places_below(num_columns);
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
