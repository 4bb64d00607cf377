#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/Random.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"

namespace stereosweep::stats {
namespace {

FamilyTest draw_test(std::uint32_t number, std::uint32_t pool, std::size_t n, std::size_t m, double shift) {
  FamilyTest test;
  test.pool = pool;
  for (std::uint32_t i = 0; i < n + m; ++i) {
    const double value = base::philox_unit({.seed = 21, .test = number, .word = i});
    (i < n ? test.x : test.y).push_back(value + (i < n ? shift : 0));
  }
  return test;
}

double permutation_z(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  const auto m = static_cast<double>(y.size());
  return effect_size(x, y).value * std::sqrt(n * m / (n + m));
}

/// z of every relabelling of one test's pool, in the order of the bit patterns.
std::vector<double> all_z(const FamilyTest& test) {
  auto pool = test.x;
  pool.insert(pool.end(), test.y.begin(), test.y.end());
  std::vector<double> result;
  for (unsigned chosen = 0; chosen < 1U << pool.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) == test.x.size()) {
      std::vector<double> x;
      std::vector<double> y;
      for (std::size_t i = 0; i < pool.size(); ++i) {
        ((chosen >> i & 1U) != 0 ? x : y).push_back(pool[i]);
      }
      result.push_back(permutation_z(x, y));
    }
  }
  return result;
}

void expect_all_relabellings_of_two_pools(Tail tail) {
  const auto side = [&](double value) { return tail == Tail::both ? std::abs(value) : value; };
  // three tests about 3 and 4 words, two about 2 and 3: 35 x 10 common relabellings
  const std::vector<FamilyTest> tests = {draw_test(1, 0, 3, 4, 0.3), draw_test(2, 0, 3, 4, 0.5),
                                         draw_test(3, 1, 2, 3, 0.2), draw_test(4, 0, 3, 4, -0.2),
                                         draw_test(5, 1, 2, 3, 0.9)};
  std::vector<std::vector<double>> z;
  std::vector<double> observed;
  for (const auto& test : tests) {
    z.push_back(all_z(test));
    observed.push_back(side(permutation_z(test.x, test.y)));
  }
  std::vector<std::size_t> order(tests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return observed[left] > observed[right]; });
  std::vector<double> truth(tests.size());
  double earlier = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    int count = 0;
    for (std::size_t first = 0; first < 35; ++first) {
      for (std::size_t second = 0; second < 10; ++second) {
        double largest = -100;
        for (std::size_t later = place; later < order.size(); ++later) {
          largest = std::max(largest, side(z[order[later]][tests[order[later]].pool == 0 ? first : second]));
        }
        count += largest >= observed[order[place]] - 1e-12 ? 1 : 0;
      }
    }
    earlier = std::max(earlier, count / 350.0);
    truth[order[place]] = earlier;
  }
  constexpr double draws = 200'000;
  const auto adjusted = max_t_p(tests, {.seed = 3, .draws = 200'000, .num_threads = 2, .tail = tail});
  for (std::size_t test = 0; test < tests.size(); ++test) {
    EXPECT_NEAR(adjusted[test], truth[test], 5 * std::sqrt(truth[test] * (1 - truth[test]) / draws) + 2 / draws)
        << test;
  }
  EXPECT_EQ(adjusted, max_t_p(tests, {.seed = 3, .draws = 200'000, .num_threads = 3, .tail = tail}));
}

TEST(FamilyPermutation, EqualsAllRelabellingsOfTwoPools) {
  expect_all_relabellings_of_two_pools(Tail::upper);
  expect_all_relabellings_of_two_pools(Tail::both);
}

TEST(FamilyPermutation, CopiesOfOneTestCostNothing) {
  const auto test = draw_test(1, 0, 6, 6, 0.25);
  const ExactPermutation exact(test.x, test.y);
  const double truth = exact_p(exact.count_share(exact.scores().threshold, 0, 1, 1), exact.num_partitions());
  const auto adjusted = max_t_p(std::vector<FamilyTest>{test, test, test}, {.seed = 3, .draws = 100'000});
  EXPECT_EQ(adjusted[0], adjusted[1]);
  EXPECT_EQ(adjusted[0], adjusted[2]);
  EXPECT_NEAR(adjusted[0], truth, 5 * std::sqrt(truth / 100'000));
  EXPECT_TRUE(max_t_p({}, {}).empty());
}

TEST(PermutationZ, IsTheStandardisedSum) {
  const auto test = draw_test(7, 0, 3, 4, 0.1);
  auto pool = test.x;
  pool.insert(pool.end(), test.y.begin(), test.y.end());
  double squares = 0;
  const auto values = all_z(test);
  for (const double z : values) {
    squares += z * z;
  }
  EXPECT_NEAR(squares / static_cast<double>(values.size()), 1, 1e-13);  // unit variance over all relabellings
}

}  // namespace
}  // namespace stereosweep::stats
