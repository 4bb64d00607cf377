// Ends of an interval over crossed templates and rephrasings, written out plainly.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stats/PValues.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

/// Cells [row][column]; NaN: none. What has no cell is left out first, so that `rows` and `columns` count what is
/// there.
struct PlainTable {
  explicit PlainTable(std::vector<std::vector<double>> all) : cells(std::move(all)) {
    std::erase_if(cells,
                  [](const auto& row) { return std::ranges::all_of(row, [](double x) { return std::isnan(x); }); });
    for (std::size_t column = cells.empty() ? 0 : cells[0].size(); column-- > 0;) {
      if (std::ranges::all_of(cells, [&](const auto& row) { return std::isnan(row[column]); })) {
        for (auto& row : cells) {
          row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
        }
      }
    }
  }

  /// Mean of the cells that `takes(row, column)`.
  template <class Takes>
  double mean(Takes takes) const {
    double sum = 0;
    double count = 0;
    for (std::size_t row = 0; row < cells.size(); ++row) {
      for (std::size_t column = 0; column < cells[row].size(); ++column) {
        if (takes(row, column) && !std::isnan(cells[row][column])) {
          sum += cells[row][column];
          ++count;
        }
      }
    }
    return sum / count;
  }
  double row_mean(std::size_t row) const {
    return mean([&](auto r, auto) { return r == row; });
  }
  double column_mean(std::size_t column) const {
    return mean([&](auto, auto c) { return c == column; });
  }

  std::vector<std::vector<double>> cells;
};

/// Standard error of the mean, and its degrees of freedom, from the sums of squares of the two-way layout.
inline std::pair<double, double> plain_mean_error(const PlainTable& table) {
  const auto r = static_cast<double>(table.cells.size());
  const auto c = static_cast<double>(table.cells[0].size());
  const double center = table.mean([](auto, auto) { return true; });
  double n = 0;
  double rest = 0;
  std::vector<double> in_row(table.cells.size(), 0);
  std::vector<double> in_column(table.cells[0].size(), 0);
  for (std::size_t row = 0; row < in_row.size(); ++row) {
    for (std::size_t column = 0; column < in_column.size(); ++column) {
      const double value = table.cells[row][column];
      if (!std::isnan(value)) {
        ++n;
        in_row[row] += value - center;
        in_column[column] += value - center;
        rest += std::pow(value - table.row_mean(row) - table.column_mean(column) + center, 2);
      }
    }
  }
  const auto squares = [](const std::vector<double>& sums) {
    double total = 0;
    for (const double sum : sums) {
      total += sum * sum;
    }
    return total;
  };
  const double free = n - r - c + 1;
  const double by_row = r > 1 ? squares(in_row) * r / (r - 1) / (n * n) : 0;
  const double by_column = c > 1 ? squares(in_column) * c / (c - 1) / (n * n) : 0;
  const double by_cell = r > 1 && c > 1 && free > 0 ? rest / free / n : 0;
  const double variance = std::max(by_row + by_column - by_cell, by_cell);
  double uncertainty = 0;
  double least = HUGE_VAL;
  const auto count = [&](double part, double degrees) {
    uncertainty += part * part / degrees;
    least = std::min(least, degrees);
  };
  if (r > 1) {
    count(by_row, r - 1);
  }
  if (c > 1) {
    count(by_column, c - 1);
  }
  if (r > 1 && c > 1 && free > 0) {
    count(by_cell, free);
  }
  return {std::sqrt(variance), std::max(least, variance * variance / uncertainty)};
}

/// `low` and `high`: quantiles of the replicates at (1 - confidence) / 2 and (1 + confidence) / 2.
inline std::pair<double, double> plain_ends(const std::vector<std::vector<double>>& cells,
                                            const std::vector<double>& replicates, double low, double high,
                                            double confidence) {
  const PlainTable table(cells);
  const double center = table.mean([](auto, auto) { return true; });
  const auto [error, degrees] = plain_mean_error(table);
  const double spread = stats::standard_deviation(replicates).value;
  if (spread < 1e-11) {
    return {low, high};
  }
  const double upper = (1 + confidence) / 2;
  const double scale = error / spread * stats::student_quantile(upper, degrees) / stats::normal_quantile(upper);
  return {std::min(center, center + scale * (low - center)), std::max(center, center + scale * (high - center))};
}

}  // namespace stereosweep::findings
