#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"
#include "stats/permutation/Relabelling.hpp"
#include "support/PhiloxUnit.hpp"

namespace stereosweep::stats {
namespace {

constexpr base::DrawKey key = {.seed = 11, .purpose = base::Purpose::permutation, .test = 3};

std::vector<double> scores(std::uint32_t test, std::size_t count, double shift = 0) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < count; ++i) {
    values.push_back(testing::philox_unit({.seed = 8, .test = test, .word = i}) + shift);
  }
  return values;
}

TEST(RandomSubsets, AreAllEquallyLikely) {
  for (const std::size_t chosen : {2U, 3U, 4U}) {  // of 6; of four the two left out are drawn
    const RandomSubsets subsets(6, chosen, key);
    EXPECT_EQ(subsets.draws_complement(), chosen == 4);
    const auto num_subsets = chosen == 3 ? 20U : 15U;
    const std::vector<std::int64_t> bits = {1, 2, 4, 8, 16, 32};
    std::map<std::uint64_t, int> seen;
    std::vector<std::int64_t> scratch(6);
    constexpr std::uint32_t num_draws = 60'000;
    for (std::uint32_t draw = 0; draw < num_draws; ++draw) {
      const auto subset = static_cast<std::uint64_t>(subsets.sum(draw, bits, scratch));
      EXPECT_EQ(std::popcount(subset), chosen == 3 ? 3 : 2);
      ++seen[subset];
    }
    ASSERT_EQ(seen.size(), num_subsets);
    double chi_squared = 0;
    const double expected = static_cast<double>(num_draws) / num_subsets;
    for (const auto& [subset, count] : seen) {
      chi_squared += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LT(chi_squared, 55);  // 19 degrees of freedom: P(> 55) = 2e-5
  }
}

TEST(RandomSubsets, SumEachItemOnce) {
  for (const std::size_t size : {5U, 50U, 300U}) {
    const RandomSubsets subsets(size, size / 2, key);
    std::vector<std::int64_t> values(size);
    std::iota(values.begin(), values.end(), 1);
    std::vector<std::int64_t> scratch(size);
    for (std::uint32_t draw = 0; draw < 200; ++draw) {
      std::vector<std::int64_t> alone(size, 0);
      std::size_t num_drawn = 0;
      std::int64_t sum = 0;
      for (std::size_t item = 0; item < size; ++item) {
        alone[item] = 1;
        const auto times = subsets.sum(draw, alone, scratch);
        alone[item] = 0;
        ASSERT_TRUE(times == 0 || times == 1) << item;
        num_drawn += static_cast<std::size_t>(times);
        sum += times * values[item];
      }
      EXPECT_EQ(num_drawn, size / 2);
      EXPECT_EQ(subsets.sum(draw, values, scratch), sum);
    }
  }
}

TEST(MonteCarloPermutation, EstimatesTheExactP) {
  for (const double shift : {0.0, 0.15, 0.3}) {
    for (const std::size_t m : {7U, 12U, 20U}) {
      const auto x = scores(1, 12, shift);
      const auto y = scores(2, m);
      const ExactPermutation exact(x, y);
      const double truth = exact_p(exact.count_share(exact.scores().threshold, 0, 1, 1), exact.num_partitions());
      const auto result = monte_carlo_permutation(x, y, {.seed = 5, .draws = 100'000, .confidence = 0.99999});
      EXPECT_EQ(result.one_sided.draws, 100'000U);
      EXPECT_LE(result.one_sided.interval.low, truth);
      EXPECT_GE(result.one_sided.interval.high, truth);
      EXPECT_EQ(result.one_sided.p, static_cast<double>(result.one_sided.exceedances + 1) / 100'001);
      const auto both =
          count_reaching(exact, [&](std::int64_t threshold) { return exact.count_share(threshold, 0, 1, 1); });
      const double two_sided = exact_p(both.two_sided, exact.num_partitions());
      EXPECT_NEAR(result.two_sided.p, two_sided, 5 * std::sqrt(two_sided * (1 - two_sided) / 100'000) + 2e-5);
      EXPECT_EQ(result.two_sided.p, static_cast<double>(result.two_sided.exceedances + 1) / 100'001);
      EXPECT_LE(result.two_sided.interval.low, two_sided);
      EXPECT_GE(result.two_sided.interval.high, two_sided);
    }
  }
}

TEST(MonteCarloPermutation, DoesNotDependOnThreads) {
  const auto x = scores(1, 9, 0.1);
  const auto y = scores(2, 10);
  for (const std::uint64_t exceedances : {0U, 7U, 500U}) {
    MonteCarloSettings settings{.seed = 2, .test = 9, .draws = 30'001, .exceedances = exceedances};
    const auto one = monte_carlo_permutation(x, y, settings);
    for (const unsigned threads : {2U, 3U, 5U}) {
      settings.num_threads = threads;
      const auto more = monte_carlo_permutation(x, y, settings);
      for (const auto tail : {&MonteCarloResult::one_sided, &MonteCarloResult::two_sided}) {
        EXPECT_EQ((more.*tail).draws, (one.*tail).draws);
        EXPECT_EQ((more.*tail).exceedances, (one.*tail).exceedances);
        EXPECT_EQ((more.*tail).p, (one.*tail).p);
        EXPECT_EQ((more.*tail).ended_early, (one.*tail).ended_early);
      }
    }
  }
}

/// The rule draw by draw, from the counts themselves: each p ends by its own count.
TEST(MonteCarloPermutation, EndsWithTheDrawThatBringsEnough) {
  for (const double shift : {0.12, -0.03}) {
    const auto x = scores(1, 8, shift);
    const auto y = scores(2, 8);
    const auto fixed = fix_scores(x, y);
    const RandomSubsets subsets(16, 8, {.seed = 4, .purpose = base::Purpose::permutation, .test = 6});
    std::vector<std::int64_t> scratch(16);
    for (const std::uint64_t wanted : {1U, 3U, 60U, 400U}) {
      for (const auto tail : {&MonteCarloResult::one_sided, &MonteCarloResult::two_sided}) {
        const bool is_one_sided = tail == &MonteCarloResult::one_sided;
        std::uint64_t found = 0;
        std::uint32_t draw = 0;
        while (found < wanted) {
          const auto sum = subsets.sum(draw++, fixed.values, scratch);
          found += (is_one_sided ? sum >= fixed.threshold : std::abs(sum) >= fixed.far) ? 1 : 0;
        }
        const auto result =
            monte_carlo_permutation(x, y, {.seed = 4, .test = 6, .draws = 1'000'000, .exceedances = wanted}).*tail;
        EXPECT_TRUE(result.ended_early);
        EXPECT_EQ(result.draws, draw);
        EXPECT_EQ(result.p, static_cast<double>(wanted) / draw);
        EXPECT_LE(result.interval.low, result.p);
        EXPECT_GE(result.interval.high, result.p);
        const auto short_test =
            monte_carlo_permutation(x, y, {.seed = 4, .test = 6, .draws = draw - 1, .exceedances = wanted}).*tail;
        EXPECT_FALSE(short_test.ended_early);
        EXPECT_EQ(short_test.p, static_cast<double>(wanted) / draw);
      }
    }
  }
}

/// Under exchangeable labels p <= 0.05 happens in at most about one in twenty tests.
TEST(MonteCarloPermutation, HoldsItsLevelWithEarlyEnds) {
  std::array<int, 2> rejected{};
  std::uint64_t draws = 0;
  constexpr int repeats = 2000;
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const auto x = scores(100 + repeat, 8);
    const auto y = scores(10'000 + repeat, 8);
    const auto result = monte_carlo_permutation(x, y, {.seed = 1, .test = repeat, .draws = 999, .exceedances = 20});
    rejected[0] += result.one_sided.p <= 0.05 ? 1 : 0;
    rejected[1] += result.two_sided.p <= 0.05 ? 1 : 0;
    draws += result.two_sided.draws;
  }
  for (const int count : rejected) {
    EXPECT_NEAR(count, 0.05 * repeats, 5 * std::sqrt(0.05 * 0.95 * repeats));
  }
  EXPECT_LT(static_cast<double>(draws) / repeats, 250);  // instead of 999
}

}  // namespace
}  // namespace stereosweep::stats
