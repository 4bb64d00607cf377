// How far the mean of a table is off whose rows and columns are two samples, crossed with each other (templates and
// rephrasings): random effects of the rows, of the columns, and a rest of each cell.
#pragma once

#include <cstddef>
#include <span>

#include "stats/Bootstrap.hpp"

namespace stereosweep::stats {

/// Of the cells that exist. What a mean square by its divisor says of the variance of the mean: in a complete table of
/// R rows and C columns the mean squares of the two-way analysis of variance (Searle, Casella and McCulloch 1992,
/// Variance Components, ch. 4) over R C. With missing cells rows and columns count by their sums, as in a mean of
/// clusters (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29).
struct CrossedSquares {
  double rows = 0;     ///< of rows alone; 0 with fewer than two
  double columns = 0;  ///< of columns alone; 0 with fewer than two
  double rest = 0;     ///< of cells alone; 0 where no degrees are left for it
  std::size_t num_rows = 0;
  std::size_t num_columns = 0;
  std::size_t num_cells = 0;
  double rest_degrees = 0;  ///< cells - rows - columns + 1, at least 0

  /// Of the mean over other rows and columns. Rows and columns both contain the rest: rows + columns - rest, at least
  /// the rest. Degrees of freedom by Satterthwaite (1946, Biometrics Bulletin 2), at least the smallest of the squares
  /// that count. One row (column): columns (rows) alone, with one degree less than there are.
  MeanError error() const;
};

/// `cells` [row, column]; NaN: none. A row or column without a cell does not count.
CrossedSquares crossed_squares(std::span<const double> cells, std::size_t num_columns);

}  // namespace stereosweep::stats
