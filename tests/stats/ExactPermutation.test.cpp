#include "stats/permutation/ExactPermutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "stats/ContextGoldens.hpp"
#include "support/PhiloxUnit.hpp"

namespace stereosweep::stats {
namespace {

struct Sides {
  std::vector<double> x;
  std::vector<double> y;
};

/// Scores in 1/8 (exact sums, many ties) or of 53 random bits.
Sides draw_sides(std::uint64_t seed, std::size_t n, std::size_t m, std::uint64_t levels) {
  Sides sides;
  for (std::uint32_t i = 0; i < n + m; ++i) {
    const base::DrawKey key{.seed = seed, .test = 77, .word = i};
    const double value = levels > 0 ? static_cast<double>(base::philox_below(2 * levels + 1, key)) / 8 - 1
                                    : testing::philox_unit(key) - 0.5;
    (i < n ? sides.x : sides.y).push_back(value);
  }
  return sides;
}

struct Counts {
  std::uint64_t one_sided = 0;
  std::uint64_t two_sided = 0;
  bool operator==(const Counts&) const = default;
};

/// By the definition, in long double.
Counts brute_force_both(const Sides& sides) {
  auto pool = sides.x;
  pool.insert(pool.end(), sides.y.begin(), sides.y.end());
  long double observed = 0;
  for (const double value : sides.x) {
    observed += value;
  }
  const long double centre = std::accumulate(pool.begin(), pool.end(), 0.0L) / pool.size() * sides.x.size();
  const long double tolerance = 1e-12L * std::max(1.0L, std::abs(observed));
  Counts counts;
  for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << pool.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) != sides.x.size()) {
      continue;
    }
    long double sum = 0;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      sum += (chosen >> i & 1U) != 0 ? pool[i] : 0;
    }
    counts.one_sided += sum >= observed - tolerance ? 1 : 0;
    counts.two_sided += std::abs(sum - centre) >= std::abs(observed - centre) - tolerance ? 1 : 0;
  }
  return counts;
}
std::uint64_t brute_force(const Sides& sides) { return brute_force_both(sides).one_sided; }

std::uint64_t count_of(const Sides& sides, std::size_t max_list_items = ExactPermutation::default_list_items) {
  const ExactPermutation exact(sides.x, sides.y, 1, max_list_items);
  return static_cast<std::uint64_t>(exact.count_share(exact.scores().threshold, 0, 1, 1));
}

TEST(ExactPermutation, CountsAsScipy) {
  ASSERT_GT(context_goldens().at("permutations").size(), 80U);
  for (const auto& item : context_goldens().at("permutations")) {
    const auto x = item.at("x").get<std::vector<double>>();
    const auto y = item.at("y").get<std::vector<double>>();
    const ExactPermutation exact(x, y);
    const auto count = exact.count_share(exact.scores().threshold, 0, 1, 1);
    EXPECT_EQ(static_cast<std::uint64_t>(count), item.at("count").get<std::uint64_t>());
    EXPECT_EQ(static_cast<std::uint64_t>(exact.num_partitions()), item.at("total").get<std::uint64_t>());
    EXPECT_EQ(exact_p(count, exact.num_partitions()), item.at("p").get<double>());
  }
}

TEST(ExactPermutation, CountsAsBruteForceWithTiesAndUnequalSizes) {
  std::uint64_t seed = 0;
  for (const std::uint64_t levels : {0U, 1U, 4U, 16U}) {
    for (std::size_t n = 1; n <= 8; ++n) {
      for (std::size_t m = 1; m <= 8; ++m) {
        const auto sides = draw_sides(++seed, n, m, levels);
        ASSERT_EQ(count_of(sides), brute_force(sides)) << n << " and " << m << ", seed " << seed;
      }
    }
  }
}

TEST(ExactPermutation, CountsBothSidesAsBruteForce) {
  std::uint64_t seed = 500;
  for (const std::uint64_t levels : {0U, 1U, 4U}) {
    for (std::size_t n = 1; n <= 8; ++n) {
      for (std::size_t m = 1; m <= 8; m += 1 + n % 2) {
        const auto sides = draw_sides(++seed, n, m, levels);
        const ExactPermutation exact(sides.x, sides.y, 1, n % 3 == 0 ? 3 : 24);
        const auto reaching =
            count_reaching(exact, [&](std::int64_t threshold) { return exact.count_share(threshold, 0, 1, 1); });
        const Counts found{static_cast<std::uint64_t>(reaching.one_sided),
                           static_cast<std::uint64_t>(reaching.two_sided)};
        ASSERT_EQ(found, brute_force_both(sides)) << n << " and " << m << ", seed " << seed;
      }
    }
  }
}

// Long runs are merged range by range: halves of 20 scores in lists of 20 (walked), 16 and 13.
TEST(ExactPermutation, MergedRunsCountAsLists) {
  for (const std::uint64_t levels : {0U, 2U, 40U}) {
    const auto sides = draw_sides(7000 + levels, 19, 21, levels);
    const auto walked = count_of(sides, 20);
    EXPECT_EQ(count_of(sides, 16), walked) << levels;
    EXPECT_EQ(count_of(sides, 13), walked) << levels;
  }
}

TEST(ExactPermutation, CountsTheSameHoweverItIsCut) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const std::size_t n = 3 + seed % 8;
    const auto sides = draw_sides(1000 + seed, n, 17 - n, seed % 3 == 0 ? 3 : 0);
    const auto whole = count_of(sides);
    EXPECT_EQ(whole, brute_force(sides));
    for (const std::size_t items : {1U, 2U, 3U, 5U, 8U}) {
      EXPECT_EQ(count_of(sides, items), whole) << items << " scores in a list, seed " << seed;
    }
  }
}

/// What an announcement says is never less than what a count can go through.
TEST(ExactPermutation, SumsAreBounded) {
  for (const auto& [n, m] : {std::pair{9U, 9U}, std::pair{3U, 14U}, std::pair{16U, 1U}}) {
    const auto sides = draw_sides(7, n, m, 0);
    for (const std::size_t items : {3U, 24U}) {
      const ExactPermutation exact(sides.x, sides.y, 1, items);
      std::uint64_t sums = 0;  // subsets of a half that some partition has
      for (const std::size_t half : {(n + m + 1) / 2, (n + m) / 2}) {
        for (std::uint32_t subset = 0; subset < 1U << half; ++subset) {
          const auto chosen = static_cast<std::size_t>(std::popcount(subset));
          sums += chosen <= n && n - chosen <= n + m - half ? 1 : 0;
        }
      }
      EXPECT_EQ(exact.num_sums(), sums);
      EXPECT_LE(sums, most_sums(n + m));
      int counts = 0;
      count_reaching(exact, [&](std::int64_t threshold) {
        ++counts;
        return exact.count_share(threshold, 0, 1, 1);
      });
      EXPECT_LE(counts, 3);
    }
  }
}

TEST(ExactPermutation, SharesAddUp) {
  const auto sides = draw_sides(5, 11, 10, 0);
  const ExactPermutation exact(sides.x, sides.y, 2, 6);
  EXPECT_EQ(exact.num_pieces(), 12U * 64U);
  const auto whole = exact.count_share(exact.scores().threshold, 0, 1, 1);
  for (const unsigned ranks : {1U, 2U, 3U, 7U}) {
    for (const unsigned threads : {1U, 2U}) {
      PartitionCount sum = 0;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        sum += exact.count_share(exact.scores().threshold, rank, ranks, threads);
      }
      EXPECT_EQ(sum, whole) << ranks << " ranks";
    }
  }
  EXPECT_EQ(whole, brute_force(sides));
}

TEST(ExactPermutation, MaximalSplitsHaveTheSmallestP) {
  Sides sides;
  for (int i = 0; i < 16; ++i) {
    (i < 8 ? sides.x : sides.y).push_back(i < 8 ? 1 + 0.01 * i : -1 - 0.01 * i);
  }
  const ExactPermutation best(sides.x, sides.y);
  EXPECT_EQ(best.count_share(best.scores().threshold, 0, 1, 1), 1U);
  EXPECT_EQ(best.num_partitions(), 12870U);
  const ExactPermutation worst(sides.y, sides.x);
  EXPECT_EQ(worst.count_share(worst.scores().threshold, 0, 1, 1), 12870U);
}

TEST(ExactPermutation, EqualScoresAlwaysTie) {
  const std::vector<double> x(5, 0.3);
  const std::vector<double> y(4, 0.3);
  const ExactPermutation exact(x, y);
  EXPECT_EQ(exact.count_share(exact.scores().threshold, 0, 1, 1), exact.num_partitions());
}

TEST(ExactPermutation, DifferencesBelowTheToleranceTie) {
  const std::vector<double> x = {1e-14, 2e-14, 3e-14};
  const std::vector<double> y = {-1e-14, -2e-14, 0};
  const ExactPermutation exact(x, y);
  EXPECT_EQ(exact.count_share(exact.scores().threshold, 0, 1, 1), 20U);
}

TEST(ExactPermutation, LargeCountsAreComplete) {
  // 22 against 22, every score equal but one: x holds it in half of the partitions
  std::vector<double> x(22, 0.1);
  const std::vector<double> y(22, 0.1);
  x.front() = 0.9;
  const ExactPermutation exact(x, y, 2, 16);
  EXPECT_EQ(exact.num_partitions(), num_subsets(44, 22));
  EXPECT_EQ(exact.count_share(exact.scores().threshold, 0, 1, 2), num_subsets(43, 21));
}

TEST(ExactPermutation, RefusesMoreThanItCanCount) {
  const std::vector<double> x(41, 0.1);
  const std::vector<double> y(40, 0.2);
  EXPECT_THROW(ExactPermutation(x, y), base::InputError);
}

TEST(PartitionCount, IsAsPublished) {
  EXPECT_EQ(to_text(0), "0");
  EXPECT_EQ(to_text(num_subsets(16, 8)), "12870");
  EXPECT_EQ(to_text(num_subsets(50, 25)), "126410606437752");
  EXPECT_EQ(to_text(num_subsets(64, 32)), "1832624140942590534");
  EXPECT_EQ(to_text(num_subsets(80, 40)), "107507208733336176461620");
  EXPECT_EQ(num_subsets(3, 5), 0U);
}

}  // namespace
}  // namespace stereosweep::stats
