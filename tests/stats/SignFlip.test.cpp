#include "stats/permutation/SignFlip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "base/Random.hpp"

namespace stereosweep::stats {
namespace {

/// Multiples of 1/8 between -levels/8 and levels/8 (ties, zeros, equal magnitudes), or 53 random bits.
std::vector<double> draw_differences(std::uint64_t seed, std::size_t count, std::uint64_t levels) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < count; ++i) {
    differences.push_back(
        levels > 0
            ? (static_cast<double>(base::random_below(2 * levels + 1, seed, 1, i)) - static_cast<double>(levels)) / 8
            : base::random_unit(seed, 2, i) - 0.4);
  }
  return differences;
}

/// The two-sided p by its definition: every sign of every difference.
double brute_force(const std::vector<double>& differences) {
  const long double observed = std::accumulate(differences.begin(), differences.end(), 0.0L);
  long double magnitude = 0;
  for (const double value : differences) {
    magnitude += std::abs(value);
  }
  const auto tolerance = 1e-12L * magnitude;
  const auto all = std::uint64_t{1} << differences.size();
  double reached = 0;
  for (std::uint64_t signs = 0; signs < all; ++signs) {
    long double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      sum += (signs >> i & 1U) != 0 ? -differences[i] : differences[i];
    }
    reached += std::abs(sum) >= std::abs(observed) - tolerance ? 1 : 0;
  }
  return reached / static_cast<double>(all);
}

/// Of whole numbers: how many signs lead to each sum, difference by difference.
double two_sided_by_sums(const std::vector<double>& differences) {
  std::map<std::int64_t, double> ways = {{0, 1}};
  for (const double value : differences) {
    std::map<std::int64_t, double> next;
    for (const auto& [sum, count] : ways) {
      next[sum + static_cast<std::int64_t>(value)] += count / 2;
      next[sum - static_cast<std::int64_t>(value)] += count / 2;
    }
    ways = std::move(next);
  }
  const auto observed = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0));
  double p = 0;
  for (const auto& [sum, share] : ways) {
    p += std::abs(static_cast<double>(sum)) >= observed ? share : 0;
  }
  return p;
}

std::vector<double> whole_numbers(std::uint64_t seed, std::size_t count, std::uint64_t lean) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < count; ++i) {
    differences.push_back(static_cast<double>(base::random_below(41, seed, 3, i)) - 20 + static_cast<double>(lean));
  }
  return differences;
}

TEST(SignFlip, CountsAsAllSignsOneByOne) {
  for (std::size_t count = 1; count <= 14; ++count) {
    for (const std::uint64_t levels : {0U, 1U, 3U, 16U}) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto differences = draw_differences(100 * seed + count, count, levels);
        const auto result = sign_flip_test(differences, {});
        EXPECT_DOUBLE_EQ(result.two_sided, brute_force(differences)) << count << ' ' << levels << ' ' << seed;
        EXPECT_TRUE(result.is_exact);
        EXPECT_EQ(result.reason, Reason::ok);
        EXPECT_EQ(result.interval.low, result.two_sided);
        EXPECT_EQ(result.interval.high, result.two_sided);
      }
    }
  }
}

TEST(SignFlip, HasNoPWithoutNumbers) {
  EXPECT_EQ(sign_flip_test({}, {}).reason, Reason::no_values);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto result = sign_flip_test(std::vector<double>{1, bad, 2}, {});
    EXPECT_EQ(result.reason, Reason::not_finite);
    EXPECT_TRUE(std::isnan(result.two_sided));
  }
  const auto beyond_double = sign_flip_test(std::vector<double>{1.5e308, -1.5e308, 1}, {});
  EXPECT_EQ(beyond_double.reason, Reason::not_finite);
  EXPECT_TRUE(std::isnan(beyond_double.two_sided));
}

TEST(SignFlip, CasesThatAreKnown) {
  const auto p = [](const std::vector<double>& differences) { return sign_flip_test(differences, {}).two_sided; };
  EXPECT_EQ(p({3}), 1);
  EXPECT_EQ(p({0}), 1);
  EXPECT_EQ(p({0, 0, 0}), 1);
  EXPECT_EQ(p({1, -1}), 1);
  EXPECT_EQ(p({2, 2}), 0.5);
  EXPECT_EQ(p({0.1, 0.2, 0.3}), 0.25);                     // 0.1 + 0.2 is not 0.3 in floating point
  EXPECT_EQ(p({0.1, 0.2, -0.3}), 1);                       // a sum that only rounding takes from zero
  EXPECT_EQ(p(std::vector<double>(40, 1e-300)), 0x1p-39);  // all of one sign: the smallest p there is
  EXPECT_EQ(p(std::vector<double>(40, 1e300)), 0x1p-39);
  EXPECT_EQ(p({1, 1, 1, 1, 0, 0, 0}), 0.125);  // zeros change nothing
}

TEST(SignFlip, SignsOfAllTogetherAndUnitsDoNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto differences = draw_differences(seed, 17, seed % 2 == 0 ? 5 : 0);
    auto turned = differences;
    auto scaled = differences;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      turned[i] = -differences[i];
      scaled[i] = 1024 * differences[i];
    }
    const auto p = sign_flip_test(differences, {}).two_sided;
    EXPECT_EQ(sign_flip_test(turned, {}).two_sided, p);
    EXPECT_EQ(sign_flip_test(scaled, {}).two_sided, p);
    std::ranges::reverse(scaled);
    EXPECT_EQ(sign_flip_test(scaled, {}).two_sided, p);
  }
}

TEST(SignFlip, TheLargestExactTestCountsAsSumsOfWholeNumbers) {
  for (const std::uint64_t lean : {0U, 2U, 6U}) {
    const auto differences = whole_numbers(lean, max_exact_flips, lean);
    const auto result = sign_flip_test(differences, {});
    ASSERT_TRUE(result.is_exact);
    EXPECT_NEAR(result.two_sided, two_sided_by_sums(differences), 1e-12 * result.two_sided);
  }
}

TEST(SignFlip, DrawsAreAsTheExactP) {
  for (const std::size_t count : {std::size_t{45}, std::size_t{64}, std::size_t{65}, std::size_t{200}}) {
    for (const std::uint64_t lean : {0U, 2U, 3U}) {
      const auto differences = whole_numbers(count + lean, count, lean);
      const SignFlipSettings settings{.seed = 5, .draws = 20'000, .confidence = 0.9999};
      const auto result = sign_flip_test(differences, settings);
      ASSERT_FALSE(result.is_exact);
      const auto exact = two_sided_by_sums(differences);
      EXPECT_LE(result.interval.low, exact) << count << ' ' << lean;
      EXPECT_GE(result.interval.high, exact) << count << ' ' << lean;
      EXPECT_GE(result.two_sided, 1.0 / 20'001);
      EXPECT_EQ(sign_flip_test(differences, settings).two_sided, result.two_sided);
    }
  }
}

/// The step-down, draw by draw as the definition has it. `rows` [test][block].
std::vector<double> plain_max_t(const std::vector<std::vector<double>>& rows, const SignFlipSettings& settings) {
  const auto statistic = [&](const std::vector<double>& row, std::uint64_t draw) {
    long double sum = 0;
    long double squares = 0;
    for (std::size_t block = 0; block < row.size(); ++block) {
      const auto bits = base::philox_bits({.seed = settings.seed,
                                           .purpose = base::Purpose::sign_flip,
                                           .sample = static_cast<std::uint32_t>(draw),
                                           .word = static_cast<std::uint32_t>(block / 64)});
      const bool is_kept = draw == settings.draws || (bits >> block % 64 & 1U) != 0;
      sum += is_kept ? row[block] : -row[block];
      squares += static_cast<long double>(row[block]) * row[block];
    }
    return squares > 0 ? std::abs(sum) / std::sqrt(squares) : std::nanl("");
  };
  std::vector<long double> observed;
  for (const auto& row : rows) {
    observed.push_back(statistic(row, settings.draws));  // the signs as they are
  }
  std::vector<double> adjusted(rows.size(), nan);
  for (std::size_t test = 0; test < rows.size(); ++test) {
    // the largest p of the tests that come not after this one, each against the maximum of those not before it
    for (std::size_t other = 0; !std::isnan(observed[test]) && other < rows.size(); ++other) {
      if (std::isnan(observed[other]) || observed[other] < observed[test]) {
        continue;
      }
      double reached = 1;
      for (std::uint64_t draw = 0; draw < settings.draws; ++draw) {
        long double largest = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) {
          if (observed[k] <= observed[other]) {
            largest = std::max(largest, statistic(rows[k], draw));
          }
        }
        reached += largest >= observed[other] - 1e-12L ? 1 : 0;
      }
      const auto p = reached / (static_cast<double>(settings.draws) + 1);
      adjusted[test] = std::isnan(adjusted[test]) ? p : std::max(adjusted[test], p);
    }
  }
  return adjusted;
}

std::vector<double> sign_flip_max_t(std::span<const double> differences, std::size_t num_blocks,
                                    const SignFlipSettings& settings) {
  const SignFlipMaxT tests(differences, num_blocks, settings);
  return tests.adjusted(tests.reached(0, 1));
}

TEST(SignFlipMaxT, IsTheStepDownOfTheSameDraws) {
  for (const std::size_t num_blocks : {std::size_t{3}, std::size_t{9}, std::size_t{70}}) {
    std::vector<std::vector<double>> rows;
    std::vector<double> flat;
    for (std::uint64_t test = 0; test < 7; ++test) {
      rows.push_back(draw_differences(1000 * num_blocks + test, num_blocks, 0));
      if (test == 3) {
        std::ranges::fill(rows.back(), 0);  // no test
      }
      if (test == 5) {
        rows.back().front() = 0;  // a block that it does not have
      }
      flat.insert(flat.end(), rows.back().begin(), rows.back().end());
    }
    const SignFlipSettings settings{.seed = 9, .draws = 200};
    const auto adjusted = sign_flip_max_t(flat, num_blocks, settings);
    const auto expected = plain_max_t(rows, settings);
    ASSERT_EQ(adjusted.size(), rows.size());
    EXPECT_TRUE(std::isnan(adjusted[3]));
    for (std::size_t test = 0; test < rows.size(); ++test) {
      if (test != 3) {
        EXPECT_DOUBLE_EQ(adjusted[test], expected[test]) << num_blocks << ' ' << test;
      }
    }
  }
}

TEST(SignFlipMaxT, IsNotBelowThePlainP) {
  constexpr std::size_t num_blocks = 12;
  constexpr std::size_t num_tests = 30;
  constexpr std::uint64_t draws = 20'000;
  std::vector<double> flat;
  for (std::uint64_t test = 0; test < num_tests; ++test) {
    for (auto& value : draw_differences(test, num_blocks, 0)) {
      flat.push_back(value + (test < 5 ? 0.5 : 0));
    }
  }
  const auto adjusted = sign_flip_max_t(flat, num_blocks, {.seed = 1, .draws = draws});
  for (std::size_t test = 0; test < num_tests; ++test) {
    const auto p = sign_flip_test(std::span<const double>(flat).subspan(test * num_blocks, num_blocks), {}).two_sided;
    EXPECT_GE(adjusted[test], p - 5 * std::sqrt(p / draws)) << test;
    EXPECT_LE(adjusted[test], 1);
  }
  // a family of one is the plain test
  const auto alone = std::span<const double>(flat).first(num_blocks);
  const auto p = sign_flip_test(alone, {}).two_sided;
  EXPECT_NEAR(sign_flip_max_t(alone, num_blocks, {.seed = 1, .draws = draws}).front(), p, 5 * std::sqrt(p / draws));
}

TEST(SignFlipMaxT, SharesAddUp) {
  const auto flat = draw_differences(4, 6 * 11, 0);
  const SignFlipSettings settings{.seed = 2, .draws = 2100};  // five times 512, the last not full
  const SignFlipMaxT tests(flat, 11, settings);
  const auto all = tests.reached(0, 1);
  for (const std::size_t num_shares : {2U, 3U, 8U}) {
    std::vector<std::uint64_t> sums(all.size(), 0);
    for (std::size_t share = 0; share < num_shares; ++share) {
      const auto reached = tests.reached(share, num_shares);
      std::ranges::transform(sums, reached, sums.begin(), std::plus<>());
    }
    EXPECT_EQ(sums, all) << num_shares;
  }
}

TEST(SignFlipMaxT, RowsOfZerosAreNoTests) {
  for (const double p : sign_flip_max_t(std::vector<double>(8, 0), 4, {.draws = 100})) {
    EXPECT_TRUE(std::isnan(p));
  }
  EXPECT_TRUE(sign_flip_max_t({}, 4, {.draws = 100}).empty());
}

}  // namespace
}  // namespace stereosweep::stats
