// The mean of a part of a crossed table, and how far it is off, where a sweep has scored only some of the cells.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/CrossedTable.hpp"

namespace stereosweep::stats {

/// How much of each variance is in the variance of the mean of some cells.
struct MeanShares {
  double rows = 0;  ///< sum over rows of the squared share of the cells
  double columns = 0;
  double rest = 0;  ///< 1 / cells
  /// The three parts of the mean's variance.
  CrossedVariances parts_of(const CrossedVariances& variances) const {
    return {variances.rows * rows, variances.columns * columns, variances.rest * rest};
  }
  double variance_of(const CrossedVariances& variances) const { return parts_of(variances).sum(); }
};

struct PartEstimate {
  double mean = nan;
  CrossedVariances variances;  ///< of one row, column and cell, each at least 0
  MeanShares shares;
  double variance = nan;  ///< of the mean over other rows and columns; NaN with fewer than two rows
  double degrees = nan;   ///< of freedom of `variance`, by Satterthwaite (1946), at least min(rows, columns) - 1
  std::size_t num_rows = 0;
  std::size_t num_columns = 0;
  std::size_t num_cells = 0;
  bool repeats_rows = false;
  bool repeats_columns = false;
  bool separates_cells = false;  ///< degrees are left for cells: the variance of a larger part can be foretold
  /// Of a mean whose variance has these parts.
  double degrees_of(const CrossedVariances& parts) const;
};

/// `cells` [row, column]; NaN: not visited. Where cells are more than the rank of the additive model, Henderson's
/// method III (crossed_squares). Where they are not, by moments of what can be told apart: columns need one that was
/// used twice, cells a row that was; otherwise the columns' variance is counted as the cells', and the cells' as the
/// rows'. Where neither is (the diagonal; a single column) the mean is that of independent values: s^2 / n, n - 1
/// degrees.
PartEstimate estimate_part(std::span<const double> cells, std::size_t num_columns);

// In which order the cells are scored where a sweep may stop early: every part has even margins, since the mean's
// variance is A / rows + B / columns touched + E / cells. Rows cannot be spared, so all of them come first, each in one
// column, the columns dealt round-robin.

/// Of a table: the first `num_rows` rows of the order, each in its first `num_layers` columns.
struct PlannedLook {
  std::size_t num_rows = 0;
  std::size_t num_layers = 0;
};

/// Below it nothing is looked at before the whole table is scored.
constexpr std::size_t fewest_rows_looked_at = 6;

/// Declared before the first score: 12 rows and min(rows, columns) of them in one column each (where cells are
/// independent: fresh rows in fresh columns), all rows in 1, 2, 4, 8, ... columns (beyond 8 at most half of them), the
/// whole. With one column 30, 50, 70 and 100 % of the rows. Both lengths are at least 1.
std::vector<PlannedLook> planned_looks(std::size_t num_rows, std::size_t num_columns);

/// [row, column], both by their places in the order: the place in `looks` of the first that has the cell. Layer l gives
/// row t the column (l rows + t + floor(l / cycle)) mod columns, cycle = columns / gcd(rows, columns): in each layer
/// margins are even within one cell, and after as many layers as there are columns every cell was met once.
std::vector<std::size_t> looks_of_cells(std::size_t num_rows, std::size_t num_columns,
                                        const std::vector<PlannedLook>& looks);

}  // namespace stereosweep::stats
