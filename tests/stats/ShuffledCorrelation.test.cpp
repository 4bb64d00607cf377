#include "stats/permutation/ShuffledCorrelation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Random.hpp"

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

/// Over all orders of the right list, by the coefficient itself.
double plain_p(const std::vector<double>& left, std::vector<double> right, CorrelationKind kind) {
  const double observed = correlate(left, right, kind).value;
  std::ranges::sort(right);
  double above = 0;
  double below = 0;
  double all = 0;
  std::vector<std::size_t> order(right.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    std::vector<double> moved;
    for (const auto place : order) {
      moved.push_back(right[place]);
    }
    const double value = correlate(left, moved, kind).value;
    above += value >= observed - 1e-9 ? 1 : 0;
    below += value <= observed + 1e-9 ? 1 : 0;
    all += 1;
  } while (std::ranges::next_permutation(order).found);
  return std::min(1.0, 2 * std::min(above, below) / all);
}

TEST(ShuffledCorrelation, CountsAllPairingsOfFewValues) {
  int num_tests = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto size = 2 + seed % 5;
    const auto left = random_list(size, seed, 1);
    const auto right = random_list(size, seed, 2);
    if (!correlate(left, right, CorrelationKind::spearman).defined()) {
      continue;
    }
    const auto found = shuffled_correlation_p(left, right, all_kinds, {.seed = seed});
    for (std::size_t kind = 0; kind < all_kinds.size(); ++kind) {
      EXPECT_TRUE(found[kind].is_exact);
      EXPECT_DOUBLE_EQ(found[kind].p, plain_p(left, right, all_kinds[kind])) << seed << " " << kind;
      EXPECT_EQ(found[kind].interval.low, found[kind].p);
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
      EXPECT_NEAR(found[kind].p, formula, 0.003 + 0.08 * formula) << seed << " " << kind;
      EXPECT_LE(found[kind].interval.low, found[kind].p);
      EXPECT_GE(found[kind].interval.high, found[kind].p * 0.999);
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

}  // namespace
}  // namespace stereosweep::stats
