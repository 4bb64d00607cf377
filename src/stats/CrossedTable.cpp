#include "stats/CrossedTable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/Check.hpp"

namespace stereosweep::stats {
namespace {

/// Sums of the cells of each row or column, and how many there are.
struct Lines {
  explicit Lines(std::size_t length) : sums(length, 0), counts(length, 0) {}
  void add(std::size_t line, double value) {
    sums[line] += value;
    counts[line] += 1;
  }
  double mean(std::size_t line) const { return sums[line] / counts[line]; }
  std::size_t num_present() const { return counts.size() - std::ranges::count(counts, 0.0); }
  /// Variance of the mean of all cells, whose deviations these are, as that of a sum of clusters.
  double square(double num_cells) const {
    const auto n = static_cast<double>(num_present());
    double squares = 0;
    for (const double sum : sums) {
      squares += sum * sum;
    }
    return n < 2 ? 0 : n / (n - 1) * squares / (num_cells * num_cells);
  }

  std::vector<double> sums;
  std::vector<double> counts;
};

}  // namespace

CrossedSquares crossed_squares(std::span<const double> cells, std::size_t num_columns) {
  STEREOSWEEP_ASSERT(num_columns > 0 && cells.size() % num_columns == 0, "whole rows");
  double sum = 0;
  CrossedSquares squares;
  for (const double cell : cells) {
    if (!std::isnan(cell)) {
      sum += cell;
      ++squares.num_cells;
    }
  }
  const auto num_cells = static_cast<double>(squares.num_cells);
  Lines rows(cells.size() / num_columns);
  Lines columns(num_columns);
  for (std::size_t place = 0; place < cells.size(); ++place) {
    if (!std::isnan(cells[place])) {
      rows.add(place / num_columns, cells[place] - sum / num_cells);
      columns.add(place % num_columns, cells[place] - sum / num_cells);
    }
  }
  squares.num_rows = rows.num_present();
  squares.num_columns = columns.num_present();
  if (squares.num_rows > 1) {
    squares.rows = rows.square(num_cells);
  }
  if (squares.num_columns > 1) {
    squares.columns = columns.square(num_cells);
  }
  if (squares.num_rows > 1 && squares.num_columns > 1) {
    squares.rest_degrees = std::max(0.0, num_cells - static_cast<double>(squares.num_rows + squares.num_columns) + 1);
  }
  if (squares.rest_degrees > 0) {
    double rest = 0;
    for (std::size_t place = 0; place < cells.size(); ++place) {
      if (!std::isnan(cells[place])) {
        const double own =
            cells[place] - sum / num_cells - rows.mean(place / num_columns) - columns.mean(place % num_columns);
        rest += own * own;
      }
    }
    squares.rest = rest / squares.rest_degrees / num_cells;
  }
  return squares;
}

MeanError CrossedSquares::error() const {
  const std::array<double, 3> parts = {rows, columns, rest};
  const std::array<double, 3> degrees = {static_cast<double>(num_rows) - 1, static_cast<double>(num_columns) - 1,
                                         rest_degrees};
  MeanError error{std::max(rows + columns - rest, rest), nan};
  double least = HUGE_VAL;
  double uncertainty = 0;  // of the variance, relative, squared, by two
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (degrees[part] > 0) {
      least = std::min(least, degrees[part]);
      uncertainty += std::pow(parts[part] / error.variance, 2) / degrees[part];
    }
  }
  if (uncertainty > 0) {  // not NaN
    error.degrees = std::max(least, 1 / uncertainty);
  }
  return error;
}

}  // namespace stereosweep::stats
