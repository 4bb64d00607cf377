// The part of templates x rephrasings that a sparse design asks, and what tests of contrasts hold on it.
#include "findings/decisions/SparseDesign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "RandomScores.hpp"
#include "base/Error.hpp"
#include "stats/CrossedTable.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::findings {
namespace {

results::ScoreTableAxes axes_of(std::size_t num_templates, std::size_t num_rephrasings) {
  return RandomScores({1, 2, num_templates, num_rephrasings, 1, 1}).table.axes;
}

TEST(SparseDesign, MarginsAreEvenAndLayersAreKept) {
  for (std::size_t templates = 1; templates <= 13; ++templates) {
    for (std::size_t rephrasings = 1; rephrasings <= 9; ++rephrasings) {
      std::vector<std::uint8_t> before(templates * rephrasings, sweep::never_visited);
      for (std::size_t layers = 1; layers <= rephrasings; ++layers) {
        const sweep::Design design{.layers = static_cast<std::int64_t>(layers)};
        const auto visits = visits_of_design(axes_of(templates, rephrasings), design, 17 * templates + rephrasings);
        for (std::size_t place = 0; place < visits.size(); ++place) {  // a further layer changes none before it
          EXPECT_EQ(visits[place] + 1U == layers ? sweep::never_visited : visits[place], before[place]);
        }
        before = visits;
        std::vector<std::size_t> by_rephrasing(rephrasings, 0);
        for (std::size_t row = 0; row < templates; ++row) {
          std::size_t count = 0;
          for (std::size_t column = 0; column < rephrasings; ++column) {
            const auto visit = visits.at(row * rephrasings + column);
            ASSERT_TRUE(visit < layers || visit == sweep::never_visited);
            count += visit < layers ? 1 : 0;
            by_rephrasing[column] += visit < layers ? 1 : 0;
          }
          EXPECT_EQ(count, layers);
        }
        EXPECT_LE(std::ranges::max(by_rephrasing) - std::ranges::min(by_rephrasing), 1U);
      }
    }
  }
  EXPECT_NE(visits_of_design(axes_of(8, 5), {.layers = 2}, 1), visits_of_design(axes_of(8, 5), {.layers = 2}, 2));
  EXPECT_EQ(visits_of_design(axes_of(8, 5), {.layers = 2}, 1), visits_of_design(axes_of(8, 5), {.layers = 2}, 1));
}

TEST(SparseDesign, PairedTemplatesAreAskedInTheSameRephrasings) {
  auto axes = axes_of(9, 4);
  axes[template_axis].coordinates.push_back({"pair", "", {"x", "y", "x", "", "y", "", "z", "z", "x"}});
  const sweep::Design design{.layers = 1, .paired = "template.pair"};
  const auto visits = visits_of_design(axes, design, 5);
  const auto row = [&](std::size_t place) {
    return std::vector<std::uint8_t>(visits.begin() + static_cast<std::ptrdiff_t>(4 * place),
                                     visits.begin() + static_cast<std::ptrdiff_t>(4 * place + 4));
  };
  EXPECT_EQ(row(0), row(2));
  EXPECT_EQ(row(0), row(8));
  EXPECT_EQ(row(1), row(4));
  EXPECT_EQ(row(6), row(7));
  std::set<std::vector<std::uint8_t>> rows;  // x, y, z and two of themselves: five rows on four rephrasings
  for (const std::size_t place : {0U, 1U, 6U, 3U, 5U}) {
    EXPECT_EQ(std::ranges::count(row(place), 0), 1);
    rows.insert(row(place));
  }
  EXPECT_EQ(rows.size(), 4U);
}

TEST(SparseDesign, NamesWhatTheAxesLack) {
  EXPECT_THAT(faults_of_design(axes_of(5, 3), {.layers = 3}), ::testing::IsEmpty());
  EXPECT_THAT(faults_of_design(axes_of(5, 3), {.layers = 4}),
              ::testing::ElementsAre(::testing::HasSubstr("4 rephrasings of each template")));
  EXPECT_THAT(faults_of_design(axes_of(5, 3), {.layers = 1, .paired = "template.x"}),
              ::testing::ElementsAre(::testing::HasSubstr("template.x")));
  EXPECT_THROW(visits_of_design(axes_of(5, 3), {.layers = 4}, 1), base::InputError);
}

/// How often a null mean of 5 % is called different from 0, and what its interval covers, over `num_tables` tables
/// whose templates, rephrasings and cells have effects.
double false_alarms(std::size_t templates, std::size_t rephrasings, std::int64_t layers, double rephrasing_deviation,
                    std::size_t num_tables) {
  std::mt19937_64 random(91);
  std::normal_distribution<double> normal;
  std::size_t alarms = 0;
  for (std::size_t table = 0; table < num_tables; ++table) {
    const auto visits = visits_of_design(axes_of(templates, rephrasings), {.layers = layers}, table);
    std::vector<double> row(templates);
    std::vector<double> column(rephrasings);
    std::ranges::generate(row, [&] { return normal(random); });
    std::ranges::generate(column, [&] { return rephrasing_deviation * normal(random); });
    std::vector<double> cells(visits.size(), stats::nan);
    double sum = 0;
    double count = 0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const double value = row[cell / rephrasings] + column[cell % rephrasings] + normal(random);
      if (visits[cell] != sweep::never_visited) {
        cells[cell] = value;
        sum += value;
        count += 1;
      }
    }
    const auto test = stats::test_mean(sum / count, stats::crossed_squares(cells, rephrasings).error(), 0.95);
    EXPECT_EQ(test.p <= 0.05, test.low > 0 || test.high < 0);
    alarms += test.p <= 0.05 ? 1 : 0;
  }
  return static_cast<double>(alarms) / static_cast<double>(num_tables);
}

TEST(SparseDesign, TestsOfAPartHoldTheirLevel) {
  for (const auto& [templates, rephrasings] : {std::pair{28U, 10U}, std::pair{35U, 20U}, std::pair{12U, 5U}}) {
    for (const std::int64_t layers : {1, 2, 4}) {
      for (const double deviation : {0.0, 0.5, 1.0}) {
        const auto rate = false_alarms(templates, rephrasings, layers, deviation, 1500);
        RecordProperty("false_alarms", std::to_string(rate));
        std::printf("%u x %u, %d layers, rephrasings %.1f: %.3f\n", templates, rephrasings, int(layers), deviation,
                    rate);
        EXPECT_LE(rate, 0.07) << templates << " x " << rephrasings << ", " << layers << ", " << deviation;
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::findings
