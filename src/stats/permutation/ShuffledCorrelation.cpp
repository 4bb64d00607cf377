#include "stats/permutation/ShuffledCorrelation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Check.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

/// Differences from the mean, over the largest of them, so that no square is too small or too large.
std::vector<double> centred(std::span<const double> values) {
  const double centre = mean(values).value;
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value - centre));
  }
  std::vector<double> differences;
  for (const double value : values) {
    differences.push_back((value - centre) / largest);
  }
  return differences;
}

/// A number that grows with the correlation, by nothing else, over all pairings of two lists.
class Paired {
 public:
  Paired(std::span<const double> left, std::span<const double> right, CorrelationKind kind)
      : kind_(kind), tau_(left.size()), moved_(right.size()) {
    if (kind == CorrelationKind::kendall) {
      right_.assign(right.begin(), right.end());
      tau_.set_left(left);
      return;
    }
    const bool is_ranked = kind == CorrelationKind::spearman;
    left_ = centred(is_ranked ? average_ranks(left) : std::vector(left.begin(), left.end()));
    right_ = centred(is_ranked ? average_ranks(right) : std::vector(right.begin(), right.end()));
    const auto squares = [](const std::vector<double>& values) {
      return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    };
    scale_ = std::sqrt(squares(left_)) * std::sqrt(squares(right_));
  }

  /// Value i of the left list meets value order[i] of the right one.
  double operator()(std::span<const std::size_t> order) {
    if (kind_ == CorrelationKind::kendall) {
      for (std::size_t place = 0; place < order.size(); ++place) {
        moved_[place] = right_[order[place]];
      }
      return tau_.tau_b(moved_);
    }
    double sum = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
      sum += left_[place] * right_[order[place]];
    }
    return sum / scale_;
  }

 private:
  CorrelationKind kind_;
  std::vector<double> left_;
  std::vector<double> right_;
  double scale_ = 1;
  TauCounter tau_;
  std::vector<double> moved_;
};

/// Pairings that reach the observed one, for one kind.
struct Reached {
  Paired paired;
  double observed;
  std::uint64_t above = 0;
  std::uint64_t below = 0;

  void count(std::span<const std::size_t> order) {
    constexpr double rounding = 1e-12;
    const double value = paired(order);
    above += value < observed - rounding ? 0 : 1;
    below += value > observed + rounding ? 0 : 1;
  }
};

PairingP concluded(const Reached& reached, std::uint64_t pairings, double confidence, bool is_exact) {
  const auto fewer = std::min(reached.above, reached.below);
  PairingP result{.is_exact = is_exact};
  if (is_exact) {
    result.p = std::min(1.0, 2 * static_cast<double>(fewer) / static_cast<double>(pairings));
    result.interval = {result.p, result.p};
    return result;
  }
  result.p = std::min(1.0, 2 * static_cast<double>(fewer + 1) / static_cast<double>(pairings + 1));
  const auto one_sided = fixed_draws_interval(fewer, pairings, confidence);
  result.interval = {std::min(1.0, 2 * one_sided.low), std::min(1.0, 2 * one_sided.high)};
  return result;
}

}  // namespace

Correlation correlate(std::span<const double> left, std::span<const double> right, CorrelationKind kind) {
  switch (kind) {
    case CorrelationKind::pearson:
      return pearson(left, right);
    case CorrelationKind::kendall:
      return kendall_tau_b(left, right);
    case CorrelationKind::spearman:
      break;
  }
  return spearman(left, right);
}

std::vector<PairingP> shuffled_correlation_p(std::span<const double> left, std::span<const double> right,
                                             std::span<const CorrelationKind> kinds, const PairingSettings& settings) {
  STEREOSWEEP_ASSERT(left.size() == right.size() && left.size() > 1, "two lists of one length are paired");
  std::vector<std::size_t> order(left.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Reached> all;
  for (const auto kind : kinds) {
    Paired paired(left, right, kind);
    const double observed = paired(order);
    all.push_back({std::move(paired), observed});
  }
  const bool is_exact = left.size() <= max_exact_pairings;
  std::uint64_t pairings = 0;
  if (is_exact) {
    do {
      std::ranges::for_each(all, [&](Reached& reached) { reached.count(order); });
      ++pairings;
    } while (std::ranges::next_permutation(order).found);
  }
  for (; !is_exact && pairings < settings.draws; ++pairings) {
    shuffle(order, settings.seed, settings.stream ^ pairings);
    std::ranges::for_each(all, [&](Reached& reached) { reached.count(order); });
  }
  std::vector<PairingP> results;
  for (const auto& reached : all) {
    results.push_back(concluded(reached, pairings, settings.confidence, is_exact));
  }
  return results;
}

}  // namespace stereosweep::stats
