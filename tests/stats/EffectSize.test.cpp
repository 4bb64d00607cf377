#include "stats/embedding/EffectSize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/Random.hpp"
#include "stats/ContextGoldens.hpp"
#include "support/EffectSize.hpp"

namespace stereosweep::stats {
namespace {

using testing::effect_size;

TEST(EffectSize, EqualsNumpy) {
  ASSERT_GT(context_goldens().at("effects").size(), 3U);
  for (const auto& item : context_goldens().at("effects")) {
    const auto x = item.at("x").get<std::vector<double>>();
    const auto y = item.at("y").get<std::vector<double>>();
    const auto result = effect_size(x, y);
    EXPECT_NEAR(result.value, item.at("effect").get<double>(), 1e-12);
    EXPECT_NEAR(result.mean_difference, item.at("difference").get<double>(), 1e-15);
    EXPECT_NEAR(result.deviation, item.at("deviation").get<double>(), 1e-15);
  }
}

TEST(EffectSize, IsBoundedBySizes) {  // reached by two constant sides
  std::uint64_t draws = 0;
  const auto uniform = [&] { return base::random_unit(5, 0, draws++); };
  for (const std::size_t n : {1, 2, 5, 25}) {
    for (const std::size_t m : {1, 3, 25}) {
      const double largest = largest_effect_size(n, m);
      if (n + m > 2) {
        const auto closest = effect_size(std::vector<double>(n, 1.0), std::vector<double>(m, -1.0));
        EXPECT_NEAR(closest.value, largest, 1e-12 * largest);
      }
      for (int draw = 0; draw < 200; ++draw) {
        std::vector<double> x(n);
        std::vector<double> y(m);
        std::ranges::generate(x, [&] { return 1 + 0.01 * draw * uniform(); });
        std::ranges::generate(y, [&] { return 0.01 * draw * uniform(); });
        EXPECT_LE(effect_size(x, y).value, largest * (1 + 1e-12)) << n << " " << m;
      }
    }
  }
  EXPECT_NEAR(largest_effect_size(8, 8), 2 * std::sqrt(15.0 / 16), 1e-14);
  EXPECT_NEAR(largest_effect_size(1, 1), std::sqrt(2.0), 1e-14);
}

/// Variance of d over all ways to cut the pool into n and the rest, by brute force.
TEST(PermutationVariance, IsThatOfAllRelabellings) {
  const std::vector<double> pool = {0.3, -0.2, 0.15, 0.9, 0.4, -0.7, 0.1};
  constexpr std::size_t n = 3;
  double sum = 0;
  double squares = 0;
  int count = 0;
  for (unsigned chosen = 0; chosen < 1U << pool.size(); ++chosen) {
    if (__builtin_popcount(chosen) != n) {
      continue;
    }
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      ((chosen >> i & 1U) != 0 ? x : y).push_back(pool[i]);
    }
    const double d = effect_size(x, y).value;
    sum += d;
    squares += d * d;
    ++count;
  }
  EXPECT_NEAR(sum / count, 0, 1e-14);
  EXPECT_NEAR(squares / count, permutation_variance(n, pool.size() - n), 1e-14);
  EXPECT_NEAR(cohen_variance(0.5, 8, 8), 0.25 + 0.25 / 32, 1e-15);
}

}  // namespace
}  // namespace stereosweep::stats
