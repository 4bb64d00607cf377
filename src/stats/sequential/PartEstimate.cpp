#include "stats/sequential/PartEstimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/Error.hpp"

namespace stereosweep::stats {
namespace {

constexpr double equal_rounding = 1e-12;  // of the mean: cells that vary by less are equal

/// Without degrees for the cells: the sums of squares within columns and rows and in all, by their expectations.
CrossedVariances variances_by_moments(const CrossedSquares& squares, const PartEstimate& part) {
  const auto n = static_cast<double>(part.num_cells);
  const double with_rows = n * (1 - squares.row_spread);  // how often the total counts the rows' variance
  const double with_columns = n * (1 - squares.column_spread);
  const double rows_and_rest =
      part.repeats_columns ? squares.within_columns / (n - static_cast<double>(part.num_columns)) : 0;
  const double columns_and_rest =
      part.repeats_rows ? squares.within_rows / (n - static_cast<double>(part.num_rows)) : 0;
  if (part.repeats_rows && part.repeats_columns) {
    const double rest = (squares.total - rows_and_rest * with_rows - columns_and_rest * with_columns) /
                        (n - 1 - with_rows - with_columns);
    return {rows_and_rest - rest, columns_and_rest - rest, rest};
  }
  if (part.repeats_columns) {
    return {rows_and_rest, (squares.total - rows_and_rest * (n - 1)) / with_columns, 0};
  }
  if (part.repeats_rows) {
    return {(squares.total - columns_and_rest * (n - 1)) / with_rows, 0, columns_and_rest};
  }
  return {squares.total / (n - 1), 0, 0};
}

}  // namespace

double PartEstimate::degrees_of(const CrossedVariances& parts) const {
  if (!repeats_rows && (!repeats_columns || num_columns == 1)) {
    return static_cast<double>(num_cells) - 1;
  }
  const auto fewest = static_cast<double>(std::min(num_rows, std::max<std::size_t>(num_columns, 2))) - 1;
  const double with_rest = parts.rows + parts.rest;
  const double of_columns =
      parts.columns + (repeats_rows ? parts.rest : parts.rows);  // one layer: rows contain the rest
  const double used = with_rest * with_rest / (static_cast<double>(num_rows) - 1) +
                      of_columns * of_columns / std::max(static_cast<double>(num_columns) - 1, 1.0);
  const double all = parts.sum();
  return used > 0 ? std::max(all * all / used, fewest) : fewest;
}

PartEstimate estimate_part(std::span<const double> cells, std::size_t num_columns) {
  PartEstimate part;
  double sum = 0;
  for (const double cell : cells) {
    sum += std::isnan(cell) ? 0 : cell;
  }
  const auto squares = crossed_squares(cells, num_columns);
  part.num_rows = squares.num_rows;
  part.num_columns = squares.num_columns;
  part.num_cells = squares.num_cells;
  if (part.num_cells == 0) {
    return part;
  }
  const auto n = static_cast<double>(part.num_cells);
  part.mean = sum / n;
  if (part.num_rows < 2) {
    return part;
  }
  part.repeats_rows = part.num_cells > part.num_rows;
  part.repeats_columns = part.num_cells > part.num_columns && part.num_columns > 1;
  part.shares = {squares.row_spread, squares.column_spread, 1 / n};
  part.separates_cells = squares.rest_degrees > 0;
  const auto found = part.separates_cells ? squares.variances() : variances_by_moments(squares, part);
  if (squares.total > std::pow(equal_rounding * part.mean, 2) * n) {
    part.variances = {std::max(found.rows, 0.0), std::max(found.columns, 0.0), std::max(found.rest, 0.0)};
  }
  const auto parts = part.shares.parts_of(part.variances);
  part.variance = parts.sum();
  part.degrees = part.degrees_of(parts);
  return part;
}

std::vector<PlannedLook> planned_looks(std::size_t num_rows, std::size_t num_columns) {
  constexpr std::size_t usual_first = 12;
  constexpr std::size_t most_close = 8;  // from there on the next look has at least half of all
  STEREOSWEEP_ASSERT(num_rows > 0 && num_columns > 0, "a table with cells");
  std::vector<PlannedLook> looks;
  if (num_rows >= fewest_rows_looked_at) {
    const auto share = [&](std::size_t tenths) { return (num_rows * tenths + 9) / 10; };
    const auto sizes = num_columns == 1 ? std::set{share(3), share(5), share(7)}
                                        : std::set{usual_first, std::min(num_rows, num_columns)};
    for (const auto size : sizes) {
      if (size >= fewest_rows_looked_at && size < num_rows) {
        looks.push_back({size, 1});
      }
    }
    for (std::size_t layers = 1; layers < num_columns && (layers <= most_close || 2 * layers <= num_columns);
         layers *= 2) {
      looks.push_back({num_rows, layers});
    }
  }
  looks.push_back({num_rows, num_columns});
  return looks;
}

std::vector<std::size_t> looks_of_cells(std::size_t num_rows, std::size_t num_columns,
                                        const std::vector<PlannedLook>& looks) {
  const auto cycle = num_columns / std::gcd(num_rows, num_columns);
  std::vector<std::size_t> found(num_rows * num_columns, looks.size());
  for (std::size_t layer = 0; layer < num_columns; ++layer) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      const auto column = (layer * num_rows + row + layer / cycle) % num_columns;
      const auto look = std::ranges::find_if(
          looks, [&](const PlannedLook& one) { return row < one.num_rows && layer < one.num_layers; });
      found[row * num_columns + column] = static_cast<std::size_t>(look - looks.begin());
    }
  }
  return found;
}

}  // namespace stereosweep::stats
