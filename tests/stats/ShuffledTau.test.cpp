#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "stats/Correlation.hpp"
#include "stats/NullTables.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"

namespace stereosweep::stats {
namespace {

using testing::Effects;
using testing::null_table;

double tau_of(const std::vector<double>& left, const std::vector<double>& right) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t cell = 0; cell < left.size(); ++cell) {
    if (!std::isnan(left[cell]) && !std::isnan(right[cell])) {
      x.push_back(left[cell]);
      y.push_back(right[cell]);
    }
  }
  return kendall_tau_b(x, y).value;
}

/// Over all permutations of the rows or columns, plainly.
double exact_p(const std::vector<double>& left, const std::vector<double>& right, std::size_t num_columns,
               Shuffle shuffle) {
  const auto num_rows = left.size() / num_columns;
  std::vector<std::size_t> order(shuffle == Shuffle::rows ? num_rows : num_columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto observed = tau_of(left, right);
  double at_least = 0;
  double at_most = 0;
  double all = 0;
  do {
    std::vector<double> moved;
    for (std::size_t row = 0; row < num_rows; ++row) {
      for (std::size_t column = 0; column < num_columns; ++column) {
        moved.push_back(shuffle == Shuffle::rows ? left[order[row] * num_columns + column]
                                                 : left[row * num_columns + order[column]]);
      }
    }
    const auto value = tau_of(moved, right);
    all += 1;
    at_least += value < observed - 1e-12 ? 0 : 1;
    at_most += value > observed + 1e-12 ? 0 : 1;
  } while (std::next_permutation(order.begin(), order.end()));
  return std::min(1.0, 2 * std::min(at_least, at_most) / all);
}

TEST(ShuffledTau, ComesNearAllPermutations) {
  std::mt19937_64 random(5);
  for (const auto& [step, missing] : {std::pair{0.0, 0.0}, std::pair{0.7, 0.0}, std::pair{0.7, 0.15}}) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      const Effects effects{"", 1, 1};
      const auto left = null_table(random, 6, 6, effects, step, missing);
      const auto right = null_table(random, 6, 6, effects, step, missing);
      for (const auto shuffle : {Shuffle::columns, Shuffle::rows}) {
        const auto ours = shuffled_tau_p(left, right, 6, shuffle, {.draws = 20'000, .seed = 3});
        ASSERT_TRUE(ours.defined());
        EXPECT_NEAR(ours.value, exact_p(left, right, 6, shuffle), 0.02);
      }
    }
  }
}

TEST(ShuffledTau, HoldsItsLevelWhereCellsAreNotIndependent) {
  constexpr int num_tables = 5000;
  for (const auto& effects : testing::null_kinds) {
    std::mt19937_64 random(11);
    double by_column = 0;
    double by_row = 0;
    double analytic = 0;
    for (int table = 0; table < num_tables; ++table) {
      const auto left = null_table(random, 8, 6, effects, 0, 0.05);
      const auto right = null_table(random, 8, 6, effects, 0.5);
      const ShuffleSettings settings{.draws = 39, .seed = static_cast<std::uint64_t>(table)};
      by_column += shuffled_tau_p(left, right, 6, Shuffle::columns, settings).value <= 0.05 ? 1 : 0;
      by_row += shuffled_tau_p(left, right, 6, Shuffle::rows, settings).value <= 0.05 ? 1 : 0;
      std::vector<double> x;
      std::vector<double> y;
      for (std::size_t cell = 0; cell < left.size(); ++cell) {
        if (!std::isnan(left[cell])) {
          x.push_back(left[cell]);
          y.push_back(right[cell]);
        }
      }
      analytic += kendall_tau_b(x, y).p <= 0.05 ? 1 : 0;
    }
    EXPECT_GT(by_column / num_tables, 0.04) << effects.name;
    EXPECT_LT(by_column / num_tables, 0.06) << effects.name;
    EXPECT_GT(by_row / num_tables, 0.04) << effects.name;
    EXPECT_LT(by_row / num_tables, 0.06) << effects.name;
    if (effects.column > 0 || effects.row > 0) {
      EXPECT_GT(analytic / num_tables, 0.15) << effects.name;  // what the shuffles are for
    }
  }
}

TEST(ShuffledTau, FindsWhatAgrees) {
  std::mt19937_64 random(2);
  auto left = null_table(random, 20, 10, {"", 1, 1});
  auto right = left;
  for (auto& value : right) {
    value += std::normal_distribution<double>()(random);
  }
  for (const auto shuffle : {Shuffle::columns, Shuffle::rows}) {
    EXPECT_DOUBLE_EQ(shuffled_tau_p(left, right, 10, shuffle, {}).value, 2.0 / 10'001);
    for (auto& value : right) {
      value = -value;
    }
    EXPECT_DOUBLE_EQ(shuffled_tau_p(left, right, 10, shuffle, {}).value, 2.0 / 10'001);
  }
}

TEST(ShuffledTau, SharedEffectsOfTheOtherSideDoNotCount) {
  std::mt19937_64 random(9);
  const std::size_t num_columns = 10;
  auto left = null_table(random, 15, num_columns, {"", 0, 0});
  auto right = null_table(random, 15, num_columns, {"", 0, 0});
  for (std::size_t cell = 0; cell < left.size(); ++cell) {  // both like the same columns in every row
    left[cell] += 2.0 * static_cast<double>(cell % num_columns);
    right[cell] += 2.0 * static_cast<double>(cell % num_columns);
  }
  EXPECT_LT(shuffled_tau_p(left, right, num_columns, Shuffle::columns, {}).value, 1e-3);
  EXPECT_GT(shuffled_tau_p(left, right, num_columns, Shuffle::rows, {}).value, 0.05);
}

TEST(ShuffledTau, SaysWhyItIsUndefined) {
  const std::vector<double> rising = {1, 2, 3, 4};
  const std::vector<double> equal(4, 1.0);
  EXPECT_EQ(shuffled_tau_p(rising, equal, 2, Shuffle::rows, {}).reason, Reason::constant);
  EXPECT_EQ(shuffled_tau_p(rising, rising, 4, Shuffle::rows, {}).reason, Reason::too_few);
  EXPECT_EQ(shuffled_tau_p(rising, rising, 1, Shuffle::columns, {}).reason, Reason::too_few);
}

// The short form of bench_shuffled_tau.
TEST(ShuffledTau, ShufflesInBlocksHoldWhereThoseOfABlockMoveTogether) {
  constexpr int num_tables = 1500;
  constexpr std::size_t num_rows = 15;
  constexpr std::size_t num_columns = 9;
  for (const auto& effects : testing::block_kinds) {
    std::mt19937_64 random(3);
    double by_column = 0;
    double by_row = 0;
    double by_both_blocks = 0;
    double by_column_block = 0;
    double by_row_block = 0;
    for (int table = 0; table < num_tables; ++table) {
      const auto left = null_table(random, num_rows, num_columns, effects);
      const auto right = null_table(random, num_rows, num_columns, effects, 0.1);
      const auto alarm = [&](Shuffle shuffle, const std::vector<std::size_t>& blocks) {
        const ShuffleSettings settings{.draws = 79, .seed = static_cast<std::uint64_t>(table)};
        return shuffled_tau_p(left, right, num_columns, shuffle, settings, blocks).value <= 0.05 ? 1 : 0;
      };
      const int column = alarm(Shuffle::columns, {});
      const int row = alarm(Shuffle::rows, {});
      by_column += column;
      by_row += row;
      const int column_block = alarm(Shuffle::columns, testing::column_blocks(num_columns));
      const int row_block = alarm(Shuffle::rows, testing::row_blocks(num_rows));
      by_column_block += column_block;
      by_row_block += row_block;
      by_both_blocks += column_block * row_block;
    }
    EXPECT_LT(by_both_blocks / num_tables, 0.065) << effects.name;  // what is cited
    EXPECT_NEAR(by_column_block / num_tables, 0.05, 0.02) << effects.name;
    EXPECT_NEAR(by_row_block / num_tables, 0.05, 0.02) << effects.name;
    EXPECT_GT(std::max(by_column, by_row) / num_tables, 0.12) << effects.name;  // what the blocks are for
  }
}

TEST(ShuffledTau, SaysHowSmallPCanBe) {
  const std::vector<std::size_t> two_of_two = {0, 0, 1, 1};
  EXPECT_NEAR(smallest_shuffled_p(4, {}, {}), 2.0 / 24, 1e-12);
  EXPECT_NEAR(smallest_shuffled_p(4, two_of_two, {}), 2.0 / 8, 1e-12);
  EXPECT_NEAR(smallest_shuffled_p(3, std::vector<std::size_t>{0, 0, 1}, {}), 1, 1e-12);
  EXPECT_DOUBLE_EQ(smallest_shuffled_p(30, {}, {}), 2.0 / 10'001);
}

}  // namespace
}  // namespace stereosweep::stats
