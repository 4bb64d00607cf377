#include "stats/permutation/ShuffledCorrelation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Random.hpp"
#include "stats/PValues.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

const std::vector<CorrelationKind> all_kinds = {CorrelationKind::spearman, CorrelationKind::pearson,
                                                CorrelationKind::kendall};

/// Every third seed has ties.
std::vector<double> random_list(std::size_t size, std::uint64_t seed, std::uint64_t stream) {
  std::vector<double> values;
  for (std::size_t place = 0; place < size; ++place) {
    const double unit = base::random_unit(seed, stream, place);
    values.push_back(seed % 3 == 0 ? std::floor(3 * unit) : std::exp(unit) - 1e3);
  }
  return values;
}

/// |c| / s(0) by its definition.
double plain_statistic(const std::vector<double>& left, const std::vector<double>& right, CorrelationKind kind) {
  const auto n = static_cast<double>(left.size());
  const double value = correlate(left, right, kind).value;
  double variance = 0;
  if (kind == CorrelationKind::kendall) {
    const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
    std::vector<double> sums(left.size());
    double left_pairs = 0;
    double right_pairs = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < left.size(); ++j) {
        sums[i] += sign(left[i] - left[j]) * sign(right[i] - right[j]);
        left_pairs += left[i] == left[j] ? 0 : 1;
        right_pairs += right[i] == right[j] ? 0 : 1;
      }
    }
    for (const double sum : sums) {
      variance += std::pow(sum * n, 2) / (left_pairs * right_pairs) / n;
    }
    variance = (4 * (n - 2) * variance + 2) / (n * (n - 1));
  } else {
    const bool is_ranked = kind == CorrelationKind::spearman;
    const auto x = is_ranked ? average_ranks(left) : left;
    const auto y = is_ranked ? average_ranks(right) : right;
    const auto scale = [&](const std::vector<double>& of) {
      return standard_deviation(of).value * std::sqrt((n - 1) / n);
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      variance += std::pow((x[i] - mean(x).value) * (y[i] - mean(y).value) / scale(x) / scale(y), 2) / n / n;
    }
  }
  return variance > 0 ? std::abs(value) / std::sqrt(variance) : 0;
}

/// Over all orders of the right list.
double plain_p(const std::vector<double>& left, const std::vector<double>& right, CorrelationKind kind) {
  const double observed = plain_statistic(left, right, kind);
  double reached = 0;
  double all = 0;
  std::vector<std::size_t> order(right.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    std::vector<double> moved;
    for (const auto place : order) {
      moved.push_back(right[place]);
    }
    reached += plain_statistic(left, moved, kind) >= observed - 1e-7 ? 1 : 0;
    all += 1;
  } while (std::ranges::next_permutation(order).found);
  return reached / all;
}

TEST(ShuffledCorrelation, CountsAllPairingsOfFewValues) {
  int num_tests = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = 3 + seed % 4;
    const auto left = random_list(size, seed, 1);
    const auto right = random_list(size, seed, 2);
    if (!correlate(left, right, CorrelationKind::spearman).defined()) {
      continue;
    }
    const auto found = shuffled_correlation_p(left, right, all_kinds, {.seed = seed});
    for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
      EXPECT_TRUE(found[kind].is_exact);
      EXPECT_NEAR(found[kind].p, plain_p(left, right, all_kinds[kind]), 1e-12) << seed << " " << kind;
      EXPECT_EQ(found[kind].p_interval.low, found[kind].p);
      ++num_tests;
    }
  }
  EXPECT_GT(num_tests, 100);
}

TEST(ShuffledCorrelation, DrawsComeNearTheFormulasOfManyValues) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto left = random_list(60, 3 * seed + 1, 1);
    auto right = random_list(60, 3 * seed + 1, 2);
    for (std::size_t place = 0; place < right.size(); ++place) {
      right[place] += 0.2 * left[place];
    }
    const auto found = shuffled_correlation_p(left, right, all_kinds, {.seed = seed, .draws = 20'000});
    for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
      const double formula = correlate(left, right, all_kinds[kind]).p;
      EXPECT_FALSE(found[kind].is_exact);
      EXPECT_NEAR(found[kind].p, formula, 0.01 + 0.25 * formula) << seed << " " << kind;
      EXPECT_LE(found[kind].p_interval.low, found[kind].p);
      EXPECT_GE(found[kind].p_interval.high, found[kind].p * 0.999);
    }
  }
}

TEST(ShuffledCorrelation, OneMethodHasTheSamePAmongOthers) {
  const auto left = random_list(20, 4, 1);
  const auto right = random_list(20, 4, 2);
  const PairingSettings settings{.seed = 9, .stream = 7, .draws = 500};
  const auto together = shuffled_correlation_p(left, right, all_kinds, settings);
  for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
    const auto alone = shuffled_correlation_p(left, right, std::vector{all_kinds[kind]}, settings);
    EXPECT_EQ(alone.front().p, together[kind].p);
  }
}

TEST(ShuffledCorrelation, TinyAndLargeNumbersHaveTheSameP) {
  const auto left = random_list(7, 4, 1);
  const auto right = random_list(7, 5, 2);
  auto tiny = left;
  std::ranges::for_each(tiny, [](double& value) { value *= 0x1p-700; });
  const auto settings = PairingSettings{.seed = 1};
  EXPECT_EQ(shuffled_correlation_p(tiny, right, all_kinds, settings)[1].p,
            shuffled_correlation_p(left, right, all_kinds, settings)[1].p);
}

/// Two normal lists of the correlation `r`, both times a scale that they share.
std::pair<std::vector<double>, std::vector<double>> scaled_lists(std::size_t size, double r, double spread,
                                                                 std::uint64_t seed) {
  std::pair<std::vector<double>, std::vector<double>> lists;
  for (std::size_t place = 0; place < size; ++place) {
    const auto normal = [&](std::uint64_t stream) { return normal_quantile(base::random_unit(seed, stream, place)); };
    const double scale = std::exp(spread * normal(3));
    lists.first.push_back(scale * normal(1));
    lists.second.push_back(scale * (r * normal(1) + std::sqrt(1 - r * r) * normal(2)));
  }
  return lists;
}

// The short form of bench_shuffled_correlation.
TEST(ShuffledCorrelation, SharedScatterIsNoCorrelation) {
  constexpr int tables = 400;
  std::vector<int> alarms(all_kinds.size());
  for (std::uint64_t seed = 0; seed < tables; ++seed) {
    const auto [left, right] = scaled_lists(20, 0, 1, seed);
    const auto found = shuffled_correlation_p(left, right, all_kinds, {.seed = seed, .draws = 399});
    for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
      alarms[kind] += found[kind].p <= 0.05 ? 1 : 0;
    }
  }
  for (const int alarm : alarms) {  // 28 % for a plain Pearson correlation
    EXPECT_GE(alarm, 0.02 * tables);
    EXPECT_LE(alarm, 0.085 * tables);
  }
}

TEST(ShuffledCorrelation, IntervalsHoldTheTruthAndNeverContradictP) {
  constexpr int tables = 300;
  std::vector<int> held(all_kinds.size());
  const double r = 0.6;
  const std::vector<double> truths = {6 / M_PI * std::asin(r / 2), r, 2 / M_PI * std::asin(r)};
  for (std::uint64_t seed = 0; seed < tables; ++seed) {
    const auto [left, right] = scaled_lists(20, r, 0, seed);
    const auto found = shuffled_correlation_p(left, right, all_kinds, {.seed = seed, .draws = 399});
    for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
      const auto& [p, is_exact, p_interval, interval] = found[kind];
      held[kind] += interval.low <= truths[kind] && truths[kind] <= interval.high ? 1 : 0;
      EXPECT_EQ(p <= 0.05, interval.low > 0 || interval.high < 0);
      const double value = correlate(left, right, all_kinds[kind]).value;
      EXPECT_TRUE(interval.low <= value && value <= interval.high);
    }
  }
  for (const int count : held) {
    EXPECT_GE(count, 0.92 * tables);
    EXPECT_LE(count, 0.99 * tables);
  }
}

TEST(ShuffledCorrelation, TooFewPairingsGiveNoInterval) {
  const std::vector<double> left = {1, 2, 3};
  const auto found = shuffled_correlation_p(left, left, all_kinds, {});
  for (const auto& one : found) {
    EXPECT_EQ(one.interval.reason, Reason::too_few);
    EXPECT_GE(one.p, 1.0 / 3 - 1e-12);
  }
}

}  // namespace
}  // namespace stereosweep::stats
