#include "stats/permutation/ShuffledCorrelation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

/// Standardised by the deviation with divisor n.
std::vector<double> standardised(std::span<const double> values) {
  const double centre = mean(values).value;
  double largest = 0;  // so that no square is too small or too large
  for (const double value : values) {
    largest = std::max(largest, std::abs(value - centre));
  }
  std::vector<double> standard;
  double squares = 0;
  for (const double value : values) {
    standard.push_back((value - centre) / largest);
    squares += standard.back() * standard.back();
  }
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  for (auto& value : standard) {
    value /= deviation;
  }
  return standard;
}

/// A correlation, and the square of its standard error where rho is the true one: zero - linear rho + square rho^2.
struct Estimate {
  double value = 0;
  double zero = 0;
  double linear = 0;
  double square = 0;

  double studentised() const { return zero > 0 ? std::abs(value) / std::sqrt(zero) : 0.0; }

  /// All rho with |value - rho| <= quantile * standard error; where they are not bounded, up to the end of the scale.
  Interval interval(double quantile) const {
    constexpr double least = 1e-12;
    const double factor = quantile * quantile;
    const double a = std::abs(1 - factor * square) < least ? -least : 1 - factor * square;
    const double half_b = -value + factor * linear / 2;
    const double c = value * value - factor * zero;
    const double root = std::sqrt(std::max(0.0, half_b * half_b - a * c)) / std::abs(a);
    if (a > 0) {
      return {std::max(-1.0, -half_b / a - root), std::min(1.0, -half_b / a + root), Reason::ok};
    }
    if (c <= 0) {  // 0 is one of them
      return {-1, 1, Reason::ok};
    }
    return value > 0 ? Interval{std::min(1.0, -half_b / a + root), 1, Reason::ok}
                     : Interval{-1, std::max(-1.0, -half_b / a - root), Reason::ok};
  }
};

/// Pearson's r of two lists, or of their ranks, under many pairings.
class PairedMoments {
 public:
  PairedMoments(std::span<const double> left, std::span<const double> right)
      : left_(standardised(left)), right_(standardised(right)) {
    for (std::size_t place = 0; place < left_.size(); ++place) {
      fourth_ += std::pow(left_[place], 4) + std::pow(right_[place], 4);
    }
  }

  Estimate operator()(std::span<const std::size_t> order) const {
    double both = 0;
    double squares = 0;
    double cubes = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
      const double x = left_[place];
      const double y = right_[order[place]];
      const double product = x * y;
      both += product;
      squares += product * product;
      cubes += product * (x * x + y * y);
    }
    const auto n = static_cast<double>(order.size());
    return {both / n, squares / n / n, cubes / n / n, (fourth_ + 2 * squares) / 4 / n / n};
  }

 private:
  std::vector<double> left_;
  std::vector<double> right_;
  double fourth_ = 0;
};

/// Kendall's tau-b, by how many others each value is concordant with.
class PairedSigns {
 public:
  PairedSigns(std::span<const double> left, std::span<const double> right)
      : left_(tied_places(left)),
        right_(tied_places(right)),
        taken_(left.size()),
        order_(base::places_below(left.size())) {
    std::ranges::sort(order_, {}, [&](std::size_t cell) { return left_[cell].place; });
    scale_ = std::sqrt(untied_share(left_) * untied_share(right_));
  }

  Estimate operator()(std::span<const std::size_t> order) {
    const auto size = order_.size();
    const auto n = static_cast<double>(size);
    double sum = 0;
    double squares = 0;
    taken_.clear();
    for (std::size_t first = 0; first < size;) {
      const auto last = left_[order_[first]].last;
      signs_.clear();
      for (auto place = first; place < last; ++place) {  // with smaller values on the left
        signs_.push_back(balance(right_[order[order_[place]]], first));
      }
      for (auto place = first; place < last; ++place) {
        taken_.take(right_[order[order_[place]]].place);
      }
      for (auto place = first; place < last; ++place) {  // with larger ones: all but the smaller and equal ones
        const auto& met = right_[order[order_[place]]];
        const auto all = static_cast<std::int64_t>(met.first + met.last) - static_cast<std::int64_t>(size);
        const double concordance =
            static_cast<double>(signs_[place - first] - (all - balance(met, last))) / (n - 1) / scale_;
        sum += concordance;
        squares += concordance * concordance;
      }
      first = last;
    }
    const double tau = sum / n;
    const double pairs = n * (n - 1);
    return {tau, (4 * (n - 2) * squares / n + 2) / pairs, 8 * (n - 2) * tau / pairs, (4 * (n - 2) - 2) / pairs};
  }

 private:
  static double untied_share(const std::vector<TiedPlaces>& places) {
    double untied = 0;
    for (const auto& one : places) {
      untied += static_cast<double>(places.size() - (one.last - one.first));
    }
    return untied / static_cast<double>(places.size() * (places.size() - 1));
  }

  /// Of the `count` places that are taken those below minus those above.
  std::int64_t balance(const TiedPlaces& met, std::size_t count) const {
    return taken_.below(met.first) + taken_.below(met.last) - static_cast<std::int64_t>(count);
  }

  std::vector<TiedPlaces> left_;
  std::vector<TiedPlaces> right_;
  TakenPlaces taken_;
  std::vector<std::size_t> order_;  ///< of the left list, ascending
  std::vector<std::int64_t> signs_;
  double scale_ = 1;  ///< tau-b over tau-a
};

/// Of the pairing in which value i of the left list meets value order[i] of the right one.
using Paired = std::function<Estimate(std::span<const std::size_t> order)>;

Paired paired_of(std::span<const double> left, std::span<const double> right, CorrelationKind kind) {
  if (kind == CorrelationKind::kendall) {
    return PairedSigns(left, right);
  }
  return kind == CorrelationKind::pearson ? PairedMoments(left, right)
                                          : PairedMoments(average_ranks(left), average_ranks(right));
}

/// The studentised correlations of one kind under all pairings.
struct Drawn {
  Paired paired;
  Estimate observed = {};
  std::vector<double> values = {};
};

PairingP concluded(Drawn& drawn, double confidence, bool is_exact) {
  constexpr double rounding = 1e-9;
  const double reaches = drawn.observed.studentised() * (1 - rounding) - rounding;
  auto& values = drawn.values;
  const auto reached =
      static_cast<std::uint64_t>(std::ranges::count_if(values, [&](double value) { return value >= reaches; }));
  const auto all = static_cast<double>(values.size());
  PairingP result{.is_exact = is_exact};
  result.p = is_exact ? static_cast<double>(reached) / all : static_cast<double>(reached + 1) / (all + 1);
  result.p_interval =
      is_exact ? ProbabilityInterval{result.p, result.p} : fixed_draws_interval(reached, values.size(), confidence);
  // so many values may reach the observed one where p is at most 1 - confidence
  const auto tail = static_cast<std::size_t>((1 - confidence) * (is_exact ? all : all + 1) + rounding);
  const auto place = is_exact ? tail : tail - 1;
  if (tail == 0 || place >= values.size()) {
    return result;
  }
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(place), std::greater());
  result.interval = drawn.observed.interval(values[place]);
  if (values[place] >= reaches && result.interval.reason == Reason::ok) {
    result.interval.low = std::min(result.interval.low, 0.0);
    result.interval.high = std::max(result.interval.high, 0.0);
  }
  return result;
}

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

Correlation correlate(std::span<const double> left, std::span<const double> right, CorrelationKind kind) {
  constexpr std::array of_kinds = {spearman, pearson, kendall_tau_b};
  return of_kinds.at(static_cast<std::size_t>(kind))(left, right);
}

std::vector<PairingP> shuffled_correlation_p(std::span<const double> left, std::span<const double> right,
                                             std::span<const CorrelationKind> kinds, const PairingSettings& settings) {
  STEREOSWEEP_ASSERT(left.size() == right.size() && left.size() > 1, "two lists of one length are paired");
  auto order = base::places_below(left.size());
  std::vector<Drawn> all;
  for (const auto kind : kinds) {
    all.push_back({paired_of(left, right, kind)});
    all.back().observed = all.back().paired(order);
  }
  const auto add = [&] {
    for (auto& drawn : all) {
      drawn.values.push_back(drawn.paired(order).studentised());
    }
  };
  const bool is_exact = left.size() <= max_exact_pairings;
  if (is_exact) {
    do {
      add();
    } while (std::ranges::next_permutation(order).found);
  }
  for (std::uint64_t draw = 0; !is_exact && draw < settings.draws; ++draw) {
    shuffle(order, settings.seed, settings.stream ^ draw);
    add();
  }
  return base::mapped(all, [&](Drawn& drawn) { return concluded(drawn, settings.confidence, is_exact); });
}

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
