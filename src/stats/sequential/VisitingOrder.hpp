// In which order the cells of a crossed table (templates x rephrasings) are scored where a sweep may stop early: every
// part has even margins, since the mean's variance is A / rows + B / columns touched + E / cells. Rows cannot be
// spared, so all of them come first, each in one column, the columns dealt round-robin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stereosweep::stats {

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
