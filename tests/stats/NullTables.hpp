// Two tables [row, column] that have nothing to do with one another, whose cells are not independent.
#pragma once

#include <cmath>
#include <random>
#include <vector>

namespace stereosweep::stats::testing {

/// Standard deviations of what the cells of a column, of a row, share; the rest of a cell has 1.
struct Effects {
  const char* name;
  double column;
  double row;
};

constexpr Effects null_kinds[] = {
    {"independent cells", 0, 0},
    {"columns alike in all rows", 1, 0},
    {"rows alike in all columns", 0, 1},
    {"both", 1, 1},
};

/// One table. `step` > 0 rounds to its multiples, so that there are ties; `missing`: the share of cells that are NaN.
inline std::vector<double> null_table(std::mt19937_64& random, std::size_t num_rows, std::size_t num_columns,
                                      const Effects& effects, double step = 0, double missing = 0) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  std::vector<double> columns(num_columns);
  for (auto& column : columns) {
    column = effects.column * normal(random);
  }
  std::vector<double> table;
  for (std::size_t row = 0; row < num_rows; ++row) {
    const auto shared = effects.row * normal(random);
    for (const auto column : columns) {
      const auto value = shared + column + normal(random);
      const auto rounded = step > 0 ? step * std::round(value / step) : value;
      table.push_back(unit(random) < missing ? NAN : rounded);
    }
  }
  return table;
}

}  // namespace stereosweep::stats::testing
