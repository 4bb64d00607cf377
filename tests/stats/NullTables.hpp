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
  double column_block = 0;  ///< of what the columns of a block share, in all rows
  double row_block = 0;
};

/// Three blocks of columns (traits of a dimension), blocks of five rows (groups of a domain).
inline std::vector<std::size_t> column_blocks(std::size_t num_columns) {
  std::vector<std::size_t> blocks;
  for (std::size_t column = 0; column < num_columns; ++column) {
    blocks.push_back(column * 3 / num_columns);
  }
  return blocks;
}
inline std::vector<std::size_t> row_blocks(std::size_t num_rows) {
  std::vector<std::size_t> blocks;
  for (std::size_t row = 0; row < num_rows; ++row) {
    blocks.push_back(row / 5);
  }
  return blocks;
}

constexpr Effects block_kinds[] = {
    {"columns of a block alike", 0, 0, 1, 0},
    {"rows of a block alike", 0, 0, 0, 1},
    {"both, and cols, rows", 0.5, 0.5, 1, 1},
    {"both", 0, 0, 1, 1},
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
  std::vector<double> of_blocks(3);
  for (auto& block : of_blocks) {
    block = effects.column_block > 0 ? effects.column_block * normal(random) : 0;
  }
  const auto blocks = column_blocks(num_columns);
  for (std::size_t column = 0; column < num_columns; ++column) {
    columns[column] = of_blocks[blocks[column]] + effects.column * normal(random);
  }
  double row_block = 0;
  std::vector<double> table;
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (effects.row_block > 0 && row % 5 == 0) {
      row_block = effects.row_block * normal(random);
    }
    const auto shared = row_block + effects.row * normal(random);
    for (const auto column : columns) {
      const auto value = shared + column + normal(random);
      const auto rounded = step > 0 ? step * std::round(value / step) : value;
      table.push_back(unit(random) < missing ? NAN : rounded);
    }
  }
  return table;
}

}  // namespace stereosweep::stats::testing
