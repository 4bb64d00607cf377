#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

constexpr base::DrawKey key = {.seed = 11, .purpose = base::Purpose::permutation, .test = 3};

std::vector<double> scores(std::uint32_t test, std::size_t count, double shift = 0) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < count; ++i) {
    values.push_back(base::philox_unit({.seed = 8, .test = test, .word = i}) + shift);
  }
  return values;
}

TEST(RandomSubsets, AreAllEquallyLikely) {
  for (const std::size_t chosen : {2U, 3U, 4U}) {  // of 6; of four the two left out are drawn
    const RandomSubsets subsets(6, chosen, key);
    EXPECT_EQ(subsets.draws_complement(), chosen == 4);
    const auto num_subsets = chosen == 3 ? 20U : 15U;
    std::map<std::set<std::uint32_t>, int> seen;
    std::vector<std::uint32_t> positions(6);
    constexpr std::uint32_t num_draws = 60'000;
    for (std::uint32_t draw = 0; draw < num_draws; ++draw) {
      subsets.choose(draw, positions);
      ++seen[{positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(subsets.num_drawn())}];
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

TEST(RandomSubsets, SumsWhatTheyChoose) {
  for (const std::size_t size : {5U, 50U, 300U}) {
    const RandomSubsets subsets(size, size / 2, key);
    std::vector<std::int64_t> values(size);
    std::iota(values.begin(), values.end(), 1);
    std::vector<std::int64_t> scratch(size);
    std::vector<std::uint32_t> positions(size);
    for (std::uint32_t draw = 0; draw < 200; ++draw) {
      subsets.choose(draw, positions);
      std::set<std::uint32_t> distinct;
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < subsets.num_drawn(); ++i) {
        distinct.insert(positions[i]);
        sum += values[positions[i]];
      }
      EXPECT_EQ(distinct.size(), size / 2);
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
      EXPECT_EQ(result.draws, 100'000U);
      EXPECT_LE(result.interval.low, truth);
      EXPECT_GE(result.interval.high, truth);
      EXPECT_EQ(result.p, static_cast<double>(result.exceedances + 1) / 100'001);
      const auto both =
          count_reaching(exact, [&](std::int64_t threshold) { return exact.count_share(threshold, 0, 1, 1); });
      const double two_sided = exact_p(both.two_sided, exact.num_partitions());
      EXPECT_NEAR(result.two_sided, two_sided, 5 * std::sqrt(two_sided * (1 - two_sided) / 100'000) + 2e-5);
      EXPECT_EQ(result.two_sided, static_cast<double>(result.two_sided_exceedances + 1) / 100'001);
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
      EXPECT_EQ(more.draws, one.draws);
      EXPECT_EQ(more.exceedances, one.exceedances);
      EXPECT_EQ(more.p, one.p);
      EXPECT_EQ(more.end, one.end);
    }
  }
}

/// The rule draw by draw, from the counts themselves.
TEST(MonteCarloPermutation, EndsWithTheDrawThatBringsEnough) {
  const auto x = scores(1, 8, 0.12);
  const auto y = scores(2, 8);
  const auto fixed = fix_scores(x, y);
  const RandomSubsets subsets(16, 8, {.seed = 4, .purpose = base::Purpose::permutation, .test = 6});
  std::vector<std::int64_t> scratch(16);
  for (const std::uint64_t wanted : {1U, 3U, 60U, 400U}) {
    std::uint64_t found = 0;
    std::uint32_t draw = 0;
    while (found < wanted) {
      found += subsets.sum(draw++, fixed.values, scratch) >= fixed.threshold ? 1 : 0;
    }
    const auto result =
        monte_carlo_permutation(x, y, {.seed = 4, .test = 6, .draws = 1'000'000, .exceedances = wanted});
    EXPECT_EQ(result.end, MonteCarloResult::End::exceedances);
    EXPECT_EQ(result.draws, draw);
    EXPECT_EQ(result.p, static_cast<double>(wanted) / draw);
    const auto short_test =
        monte_carlo_permutation(x, y, {.seed = 4, .test = 6, .draws = draw - 1, .exceedances = wanted});
    EXPECT_EQ(short_test.end, MonteCarloResult::End::all_draws);
    EXPECT_EQ(short_test.p, static_cast<double>(wanted) / draw);
  }
}

/// Under exchangeable labels p <= 0.05 happens in at most about one in twenty tests.
TEST(MonteCarloPermutation, HoldsItsLevelWithEarlyEnds) {
  int rejected = 0;
  std::uint64_t draws = 0;
  constexpr int repeats = 2000;
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const auto x = scores(100 + repeat, 8);
    const auto y = scores(10'000 + repeat, 8);
    const auto result = monte_carlo_permutation(x, y, {.seed = 1, .test = repeat, .draws = 999, .exceedances = 20});
    rejected += result.p <= 0.05 ? 1 : 0;
    draws += result.draws;
  }
  EXPECT_NEAR(rejected, 0.05 * repeats, 5 * std::sqrt(0.05 * 0.95 * repeats));
  EXPECT_LT(static_cast<double>(draws) / repeats, 250);  // instead of 999
}

}  // namespace
}  // namespace stereosweep::stats
