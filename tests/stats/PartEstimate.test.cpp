#include "stats/sequential/PartEstimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace stereosweep::stats {
namespace {

constexpr std::size_t rows_of_parts = 35;
constexpr std::size_t columns_of_parts = 20;

/// Cells [row, column] with these deviations; NaN where not visited.
std::vector<double> drawn_part(std::mt19937_64& random, const std::vector<bool>& visited, std::size_t columns,
                               double row, double column, double rest) {
  std::normal_distribution<double> normal;
  std::vector<double> of_rows(visited.size() / columns);
  std::vector<double> of_columns(columns);
  std::ranges::generate(of_rows, [&] { return row * normal(random); });
  std::ranges::generate(of_columns, [&] { return column * normal(random); });
  std::vector<double> cells(visited.size(), nan);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (visited[cell]) {
      cells[cell] = of_rows[cell / columns] + of_columns[cell % columns] + rest * normal(random);
    }
  }
  return cells;
}

std::vector<bool> dealt_part(std::size_t rows, std::size_t columns, std::size_t first, std::size_t layers) {
  const auto looks = looks_of_cells(rows, columns, {{first, layers}});
  std::vector<bool> visited(looks.size());
  std::transform(looks.begin(), looks.end(), visited.begin(), [](std::size_t look) { return look == 0; });
  return visited;
}

/// Sum of squares of the values beyond the span of indicator columns, and their rank, by Gram and Schmidt.
std::pair<double, double> rest_beyond(std::vector<double> values, std::vector<std::vector<double>> indicators) {
  std::vector<std::vector<double>> basis;
  const auto product = [](const auto& left, const auto& right) {
    double sum = 0;
    for (std::size_t place = 0; place < left.size(); ++place) {
      sum += left[place] * right[place];
    }
    return sum;
  };
  const auto remove = [&](std::vector<double>& from, const std::vector<double>& unit) {
    const double share = product(from, unit);
    for (std::size_t place = 0; place < from.size(); ++place) {
      from[place] -= share * unit[place];
    }
  };
  for (auto& indicator : indicators) {
    for (int again = 0; again < 2; ++again) {
      std::ranges::for_each(basis, [&](const auto& unit) { remove(indicator, unit); });
    }
    const double length = std::sqrt(product(indicator, indicator));
    if (length > 1e-9) {
      std::ranges::for_each(indicator, [&](double& value) { value /= length; });
      basis.push_back(indicator);
    }
  }
  std::ranges::for_each(basis, [&](const auto& unit) { remove(values, unit); });
  return {product(values, values), static_cast<double>(basis.size())};
}

/// Henderson's method III by least squares on indicators of rows, of columns and of both.
CrossedVariances by_least_squares(const std::vector<double>& cells, std::size_t columns) {
  std::vector<double> values;
  std::vector<std::vector<double>> of_rows(cells.size() / columns);
  std::vector<std::vector<double>> of_columns(columns);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (!std::isnan(cells[cell])) {
      values.push_back(cells[cell]);
      for (std::size_t row = 0; row < of_rows.size(); ++row) {
        of_rows[row].push_back(row == cell / columns ? 1 : 0);
      }
      for (std::size_t column = 0; column < columns; ++column) {
        of_columns[column].push_back(column == cell % columns ? 1 : 0);
      }
    }
  }
  auto both = of_rows;
  both.insert(both.end(), of_columns.begin(), of_columns.end());
  const auto n = static_cast<double>(values.size());
  const auto [rest, rank] = rest_beyond(values, both);
  const auto [within_rows, rows] = rest_beyond(values, of_rows);
  const auto [within_columns, used] = rest_beyond(values, of_columns);
  const double e = rest / (n - rank);
  return {std::max(0.0, (within_columns - rest - e * (rank - used)) / (n - used)),
          std::max(0.0, (within_rows - rest - e * (rank - rows)) / (n - rows)), e};
}

TEST(PartEstimate, is_hendersons_by_least_squares) {
  std::mt19937_64 random(1);
  for (int table = 0; table < 40; ++table) {
    const std::size_t rows = 6 + table % 30;
    const std::size_t columns = 2 + table % 9;
    auto visited = dealt_part(rows, columns, rows, std::min<std::size_t>(2 + table % 3, columns));
    for (std::size_t cell = 0; cell < visited.size(); ++cell) {
      visited[cell] = visited[cell] && random() % 12 != 0;
    }
    const auto cells = drawn_part(random, visited, columns, 1, 0.5, 0.7);
    const auto part = estimate_part(cells, columns);
    if (part.separates_cells) {
      const auto expected = by_least_squares(cells, columns);
      EXPECT_NEAR(part.variances.rows, expected.rows, 1e-9) << table;
      EXPECT_NEAR(part.variances.columns, expected.columns, 1e-9) << table;
      EXPECT_NEAR(part.variances.rest, expected.rest, 1e-9) << table;
    }
  }
}

TEST(PartEstimate, takes_the_rank_of_parts_that_fall_asunder) {
  std::mt19937_64 random(2);
  const auto two_layers = dealt_part(rows_of_parts, columns_of_parts, rows_of_parts, 2);
  const auto part = estimate_part(drawn_part(random, two_layers, columns_of_parts, 1, 0.5, 1), columns_of_parts);
  EXPECT_TRUE(part.separates_cells);  // five components: 70 cells, rank 50
  EXPECT_EQ(part.num_cells, 70U);
  const auto cells = drawn_part(random, two_layers, columns_of_parts, 1, 0.5, 1);
  EXPECT_NEAR(estimate_part(cells, columns_of_parts).variances.rest, by_least_squares(cells, columns_of_parts).rest,
              1e-9);
}

TEST(PartEstimate, is_the_analysis_of_variance_of_a_complete_table) {
  std::mt19937_64 random(3);
  const auto cells = drawn_part(random, std::vector<bool>(12 * 5, true), 5, 1, 0.6, 0.8);
  std::vector<double> rows(12, 0);
  std::vector<double> columns(5, 0);
  double mean = 0;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    rows[cell / 5] += cells[cell] / 5;
    columns[cell % 5] += cells[cell] / 12;
    mean += cells[cell] / 60;
  }
  double of_rows = 0;
  double of_columns = 0;
  double rest = 0;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    of_rows += std::pow(rows[cell / 5] - mean, 2);
    of_columns += std::pow(columns[cell % 5] - mean, 2);
    rest += std::pow(cells[cell] - rows[cell / 5] - columns[cell % 5] + mean, 2);
  }
  const double e = rest / 44;
  const double a = (of_rows / 11 - e) / 5;
  const double b = std::max(0.0, (of_columns / 4 - e) / 12);
  const auto part = estimate_part(cells, 5);
  EXPECT_NEAR(part.mean, mean, 1e-12);
  EXPECT_NEAR(part.variances.rows, a, 1e-12);
  EXPECT_NEAR(part.variances.columns, b, 1e-12);
  EXPECT_NEAR(part.variances.rest, e, 1e-12);
  EXPECT_NEAR(part.variance, a / 12 + b / 5 + e / 60, 1e-12);
  const double degrees =
      std::pow(part.variance, 2) / (std::pow(a / 12 + e / 60, 2) / 11 + std::pow(b / 5 + e / 60, 2) / 4);
  EXPECT_NEAR(part.degrees, std::max(degrees, 4.0), 1e-9);
}

TEST(PartEstimate, is_that_of_independent_cells_on_the_diagonal) {
  std::mt19937_64 random(4);
  const auto cells =
      drawn_part(random, dealt_part(rows_of_parts, columns_of_parts, 12, 1), columns_of_parts, 1, 0.5, 1);
  std::vector<double> values;
  std::ranges::copy_if(cells, std::back_inserter(values), [](double value) { return !std::isnan(value); });
  const auto part = estimate_part(cells, columns_of_parts);
  EXPECT_NEAR(part.variance, std::pow(standard_deviation(values).value, 2) / 12, 1e-12);
  EXPECT_EQ(part.degrees, 11);
  const auto column = estimate_part(values, 1);
  EXPECT_NEAR(column.variance, part.variance, 1e-12);
  EXPECT_EQ(column.degrees, 11);
}

TEST(PartEstimate, has_on_average_the_variance_of_the_mean) {
  std::mt19937_64 random(5);
  for (const std::size_t layers : {1, 2, 4}) {
    const auto visited = dealt_part(rows_of_parts, columns_of_parts, rows_of_parts, layers);
    double variance = 0;
    double square = 0;
    constexpr int tables = 3000;
    for (int table = 0; table < tables; ++table) {
      const auto part = estimate_part(drawn_part(random, visited, columns_of_parts, 1, 0.5, 1), columns_of_parts);
      variance += part.variance / tables;
      square += part.mean * part.mean / tables;
    }
    // parts that cannot fall below 0 make the estimate larger after one layer; a variance of 3,000 means is off by 2.6
    // %
    EXPECT_NEAR(variance / square, layers == 1 ? 1.1 : 1.0, 0.1) << layers;
  }
}

TEST(PartEstimate, says_nothing_where_there_is_nothing) {
  EXPECT_EQ(estimate_part(std::vector<double>(6, nan), 3).num_cells, 0U);
  EXPECT_TRUE(std::isnan(estimate_part(std::vector<double>{1, 2, 3}, 3).variance));  // one row
  const auto equal = estimate_part(std::vector<double>(12, 0.1), 3);
  EXPECT_NEAR(equal.mean, 0.1, 1e-15);
  EXPECT_EQ(equal.variance, 0);
}

}  // namespace
}  // namespace stereosweep::stats
