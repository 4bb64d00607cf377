#include "stats/CrossedTable.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace stereosweep::stats {
namespace {

struct Deviations {
  double rows;
  double columns;
  double cells;
};

/// Normal random effects.
std::vector<double> crossed_table(std::mt19937_64& random, std::size_t num_rows, std::size_t num_columns,
                                  const Deviations& deviations, double missing) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  std::vector<double> rows(num_rows);
  std::vector<double> columns(num_columns);
  for (auto& row : rows) {
    row = deviations.rows * normal(random);
  }
  for (auto& column : columns) {
    column = deviations.columns * normal(random);
  }
  std::vector<double> cells;
  for (std::size_t cell = 0; cell < num_rows * num_columns; ++cell) {
    const double value = rows[cell / num_columns] + columns[cell % num_columns] + deviations.cells * normal(random);
    cells.push_back(unit(random) < missing ? nan : value);
  }
  return cells;
}

TEST(CrossedSquares, OfACompleteTableAreTheMeanSquaresOfItsAnalysisOfVariance) {
  // 3 x 2: rows (1, 3), (2, 6), (9, 3); mean 4, row means 2, 4, 6, column means 4, 4
  const auto squares = crossed_squares(std::vector<double>{1, 3, 2, 6, 9, 3}, 2);
  EXPECT_EQ(squares.num_rows, 3U);
  EXPECT_EQ(squares.num_columns, 2U);
  EXPECT_EQ(squares.num_cells, 6U);
  EXPECT_NEAR(squares.rows, 2.0 * (4 + 0 + 4) / 2 / 6, 1e-15);
  EXPECT_NEAR(squares.columns, 0, 1e-15);
  EXPECT_NEAR(squares.rest, (1 + 1 + 4 + 4 + 9 + 9) / 2.0 / 6, 1e-14);
  EXPECT_EQ(squares.rest_degrees, 2);
}

TEST(CrossedSquares, ALineThatHasNoCellDoesNotCount) {
  const auto whole = crossed_squares(std::vector<double>{1, 3, 2, 6, 9, 3}, 2);
  const auto more = crossed_squares(std::vector<double>{1, nan, 3, nan, nan, nan, 2, nan, 6, 9, nan, 3}, 3);
  EXPECT_EQ(more.num_rows, 3U);
  EXPECT_EQ(more.num_columns, 2U);
  EXPECT_EQ(more.rows, whole.rows);
  EXPECT_EQ(more.rest, whole.rest);
  EXPECT_EQ(more.rest_degrees, whole.rest_degrees);
}

TEST(CrossedSquares, OneRowOrColumnLeavesTheClassicalErrorOfAMean) {
  const std::vector<double> values = {2, 4, 4, 10};  // mean 5, sum of squares 36
  for (const std::size_t num_columns : {1U, 4U}) {
    const auto squares = crossed_squares(values, num_columns);
    EXPECT_EQ(num_columns == 1 ? squares.columns : squares.rows, 0);
    EXPECT_EQ(squares.rest_degrees, 0);
    EXPECT_NEAR(squares.error().variance, 36.0 / 3 / 4, 1e-14);
    EXPECT_NEAR(squares.error().degrees, 3, 1e-12);
  }
}

TEST(CrossedSquares, DegreesAreSatterthwaites) {
  CrossedSquares squares{.rows = 4,
                         .columns = 3,
                         .rest = 1,
                         .rows_alone = 3.5,
                         .cells_alone = 0.9,
                         .row_ratio = 4,
                         .column_ratio = 3,
                         .row_degrees = 5,
                         .column_degrees = 3,
                         .rest_degrees = 15,
                         .num_rows = 6,
                         .num_columns = 4,
                         .num_cells = 24};
  EXPECT_DOUBLE_EQ(squares.error().variance, 6);
  const double columns = 3 * 2.4741596640095533;  // scipy.stats.chi2: the upper 75 % limit, with the fewest degrees
  EXPECT_NEAR(squares.error().degrees, std::pow(3 + columns, 2) / (16 / 5.0 + columns * columns / 3 + 1 / 15.0), 1e-11);
  EXPECT_LT(squares.error().degrees, 36 / (16 / 5.0 + 9 / 3.0 + 1 / 15.0));
  squares.column_ratio = 0.1;  // chance: columns are left out of the model
  EXPECT_DOUBLE_EQ(squares.error().variance, 3.5);
  EXPECT_EQ(squares.error().degrees, 5);
  squares.row_ratio = 0.1;
  EXPECT_DOUBLE_EQ(squares.error().variance, 0.9);
  EXPECT_EQ(squares.error().degrees, 23);
}

TEST(CrossedSquares, WithTwoColumnsNoIntervalHasMoreThanOneAndAHalfDegrees) {
  std::mt19937_64 random(3);
  for (int table = 0; table < 50; ++table) {
    const auto error = crossed_squares(crossed_table(random, 12, 2, {1, 0, 1}, 0), 2).error();
    EXPECT_LE(error.degrees, 1.5);
    EXPECT_GT(error.variance, 0);
  }
}

TEST(CrossedSquares, OfEqualCellsHaveNoError) {
  const auto error = crossed_squares(std::vector<double>(12, 2.5), 3).error();
  EXPECT_EQ(error.variance, 0);
  EXPECT_TRUE(std::isnan(error.degrees));
  EXPECT_EQ(crossed_squares(std::vector<double>(4, nan), 2).num_cells, 0U);
}

/// Mean of the estimates and variance of the means, over tables drawn anew.
TEST(CrossedSquares, EstimateTheVarianceOfTheMeanOfCompleteAndIncompleteTables) {
  constexpr int num_tables = 4000;
  for (const double missing : {0.0, 0.2}) {
    for (const auto& deviations : {Deviations{1, 0.5, 1}, Deviations{0.5, 1, 0.3}, Deviations{0.8, 0.8, 2}}) {
      std::mt19937_64 random(5);
      double estimated = 0;
      double squares = 0;
      for (int table = 0; table < num_tables; ++table) {
        const auto cells = crossed_table(random, 12, 7, deviations, missing);
        double sum = 0;
        double count = 0;
        for (const double cell : cells) {
          sum += std::isnan(cell) ? 0 : cell;
          count += std::isnan(cell) ? 0 : 1;
        }
        squares += std::pow(sum / count, 2);
        estimated += crossed_squares(cells, 7).error().variance;
      }
      EXPECT_NEAR(estimated / squares, 1, 0.1)
          << missing << ' ' << deviations.rows;  // standard error of squares: 0.022
    }
  }
}

TEST(ErrorOfGroupMeans, OfTwoAgainstManyKeepsItsLevel) {
  constexpr int num_tables = 4000;
  const auto level = [&](std::size_t few, std::size_t many, double spread) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    int small = 0;
    for (int table = 0; table < num_tables; ++table) {
      std::vector<std::vector<double>> groups = {std::vector<double>(few), std::vector<double>(many)};
      double difference = 0;
      for (auto& group : groups) {
        for (auto& value : group) {
          value = (&group == groups.data() ? spread : 1) * normal(random);
          difference += (&group == groups.data() ? value : -value) / static_cast<double>(group.size());
        }
      }
      small += test_mean(difference, error_of_group_means(groups), 0.95).p <= 0.05 ? 1 : 0;
    }
    return 1.0 * small / num_tables;
  };
  EXPECT_LT(level(2, 20, 1), 0.065);
  EXPECT_LT(level(3, 12, 4), 0.065);
  EXPECT_LT(level(3, 40, 1), 0.065);
  EXPECT_NEAR(level(20, 20, 2), 0.05, 0.014);  // four standard errors
}

}  // namespace
}  // namespace stereosweep::stats
