// False alarms at nominal 5 % of the p values of a pooled tau-b, and what 10,000 draws cost.
//   bench_shuffled_tau [TABLES] [ROWS COLUMNS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "stats/Correlation.hpp"
#include "stats/NullTables.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"

int main(int argc, char** argv) {
  namespace stats = stereosweep::stats;
  const auto number = [&](int place, std::size_t otherwise) {
    return argc > place ? static_cast<std::size_t>(std::atol(argv[place])) : otherwise;
  };
  const auto num_tables = number(1, 2000);
  const auto num_rows = number(2, 25);
  const auto num_columns = number(3, 16);
  constexpr std::size_t num_draws = 199;
  const auto column_blocks = stats::testing::column_blocks(num_columns);
  const auto row_blocks = stats::testing::row_blocks(num_rows);
  std::vector<stats::testing::Effects> kinds(std::begin(stats::testing::null_kinds),
                                             std::end(stats::testing::null_kinds));
  kinds.insert(kinds.end(), std::begin(stats::testing::block_kinds), std::end(stats::testing::block_kinds));
  std::printf("%zu null tables of %zu x %zu cells; share with p <= 0.05 in %%\n", num_tables, num_rows, num_columns);
  std::printf("%-26s %6s %8s %6s %7s %15s %12s %17s %8s %7s\n", "kind", "cells", "columns", "rows", "larger",
              "columns, blocks", "rows, blocks", "larger of blocks", "of four", "s a 10,000");
  for (const auto& effects : kinds) {
    std::mt19937_64 random(20220710);
    std::size_t analytic = 0;
    std::size_t by_column = 0;
    std::size_t by_row = 0;
    std::size_t by_both = 0;
    std::size_t by_column_block = 0;
    std::size_t by_row_block = 0;
    std::size_t by_blocks = 0;
    std::size_t by_four = 0;
    double seconds = 0;
    for (std::size_t table = 0; table < num_tables; ++table) {
      const auto left = stats::testing::null_table(random, num_rows, num_columns, effects);
      const auto right = stats::testing::null_table(random, num_rows, num_columns, effects, 0.1);
      const stats::ShuffleSettings settings{.draws = num_draws, .seed = table};
      analytic += stats::kendall_tau_b(left, right).p <= 0.05 ? 1 : 0;
      const auto began = std::chrono::steady_clock::now();
      const auto p = [&](stats::Shuffle shuffle, std::span<const std::size_t> blocks) {
        return stats::shuffled_tau_p(left, right, num_columns, shuffle, settings, blocks).value;
      };
      const double column = p(stats::Shuffle::columns, {});
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      const double row = p(stats::Shuffle::rows, {});
      by_column += column <= 0.05 ? 1 : 0;
      by_row += row <= 0.05 ? 1 : 0;
      by_both += std::max(column, row) <= 0.05 ? 1 : 0;
      const double in_column_blocks = p(stats::Shuffle::columns, column_blocks);
      const double in_row_blocks = p(stats::Shuffle::rows, row_blocks);
      by_column_block += in_column_blocks <= 0.05 ? 1 : 0;
      by_row_block += in_row_blocks <= 0.05 ? 1 : 0;
      by_blocks += std::max(in_column_blocks, in_row_blocks) <= 0.05 ? 1 : 0;
      by_four += std::max({column, row, in_column_blocks, in_row_blocks}) <= 0.05 ? 1 : 0;
    }
    const auto percent = [&](std::size_t count) {
      return 100 * static_cast<double>(count) / static_cast<double>(num_tables);
    };
    std::printf("%-26s %6.1f %8.1f %6.1f %7.1f %15.1f %12.1f %17.1f %8.1f %7.3f\n", effects.name, percent(analytic),
                percent(by_column), percent(by_row), percent(by_both), percent(by_column_block), percent(by_row_block),
                percent(by_blocks), percent(by_four), 1e4 / num_draws * seconds / static_cast<double>(num_tables));
    std::fflush(stdout);
  }
}
