#include "stats/AdditiveFit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

/// [unit][cell]; of each unit `missing` of the scores, drawn anew.
std::vector<std::vector<double>> random_table(double missing) {
  std::mt19937_64 random(20261127);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::vector<double>> table(7, std::vector<double>(11));
  for (auto& unit : table) {
    for (auto& score : unit) {
      score = 5 + normal(random);
      score = uniform(random) < missing ? nan : score;
    }
  }
  return table;
}

TEST(AdditiveFit, LeavesRestsThatAddUpToNothingInEachUnitAndCell) {
  for (const double missing : {0.0, 0.4}) {
    const auto table = random_table(missing);
    const AdditiveFit fit(7, 11, [&](std::size_t unit) { return table[unit]; });
    std::vector<double> of_cells(11, 0);
    for (std::size_t unit = 0; unit < 7; ++unit) {
      double of_unit = 0;
      for (std::size_t cell = 0; cell < 11; ++cell) {
        const double rest = fit.rest(unit, cell, table[unit][cell]);
        of_unit += std::isnan(rest) ? 0 : rest;
        of_cells[cell] += std::isnan(rest) ? 0 : rest;
      }
      EXPECT_NEAR(of_unit, 0, 1e-12) << missing;
    }
    for (const double sum : of_cells) {
      EXPECT_NEAR(sum, 0, 1e-12) << missing;
    }
  }
}

TEST(AdditiveFit, HasTheDifferencesOfMeansWhereNothingIsMissing) {
  const auto table = random_table(0);
  const AdditiveFit fit(7, 11, [&](std::size_t unit) { return table[unit]; });
  for (std::size_t unit = 1; unit < 7; ++unit) {
    EXPECT_NEAR(fit.unit_effects[unit] - fit.unit_effects[0], mean(table[unit]).value - mean(table[0]).value, 1e-12);
  }
}

TEST(AdditiveFit, HasTheDegreesOfTheRowsThatAnEstimateHangsOn) {
  std::vector<std::vector<double>> table(3, std::vector<double>(24));
  for (std::size_t unit = 0; unit < 3; ++unit) {
    for (std::size_t cell = 0; cell < 24; ++cell) {
      table[unit][cell] = std::sin(static_cast<double>(5 * unit * unit + 7 * cell));
    }
  }
  std::vector<std::size_t> rows(24);
  const auto degrees = [&](std::size_t cells_a_row) {
    for (std::size_t cell = 0; cell < 24; ++cell) {
      rows[cell] = cell / cells_a_row;
    }
    return AdditiveFit(3, 24, [&](std::size_t unit) { return table[unit]; }).influences({1, -0.5, -0.5}, rows);
  };
  EXPECT_NEAR(degrees(1).row_degrees, 23, 1e-9);
  EXPECT_NEAR(degrees(2).row_degrees, 11, 1e-9);
  double sum = 0;
  for (const double influence : degrees(1).of_cells) {
    sum += std::pow(influence, 2);
  }
  double squares = 0;  // of the cells' differences around their mean: nothing is lost in a complete table
  double all = 0;
  for (std::size_t cell = 0; cell < 24; ++cell) {
    const double difference = table[0][cell] - (table[1][cell] + table[2][cell]) / 2;
    squares += difference * difference;
    all += difference;
  }
  EXPECT_NEAR(sum, squares - all * all / 24, 1e-9);
  for (std::size_t cell = 8; cell < 24; ++cell) {
    table[1][cell] = table[2][cell] = nan;
  }
  EXPECT_NEAR(degrees(1).row_degrees, 7, 1e-9);
}

TEST(JoinedUnits, AreThoseThatChainsOfSharedCellsJoin) {
  const std::vector<std::vector<double>> table = {{1, nan, nan, nan},   {nan, nan, 1, 1},   {1, 1, nan, nan},
                                                  {nan, nan, nan, nan}, {nan, 1, nan, nan}, {nan, nan, nan, 1}};
  EXPECT_EQ(joined_units(6, 4, [&](std::size_t unit) { return table[unit]; }),
            (std::vector<std::size_t>{0, 1, 0, 3, 0, 1}));
}

}  // namespace
}  // namespace stereosweep::stats
