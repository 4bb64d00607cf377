#include "stats/Power.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/Summary.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {
namespace {

const base::Json& power_goldens() {
  static const auto goldens =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  return goldens;
}

PlannedMean of_rows(double effect, double level = 0.05) { return {effect, {.rows = 1}, 1, level}; }

TEST(Power, OfOneColumnIsThatOfScipysNoncentralT) {
  ASSERT_GT(power_goldens().at("powers").size(), 80U);
  for (const auto& item : power_goldens().at("powers")) {
    const auto effect = item.at(0).get<double>();
    const auto n = item.at(1).get<std::size_t>();
    const auto level = item.at(2).get<double>();
    EXPECT_NEAR(crossed_power(of_rows(effect, level), n), item.at(3).get<double>(), 1e-10) << effect << ' ' << n;
    EXPECT_EQ(crossed_power(of_rows(-effect, level), n), crossed_power(of_rows(effect, level), n)) << effect << n;
  }
  for (const auto& item : power_goldens().at("variance_factors")) {
    EXPECT_NEAR(upper_variance_factor(item.at(0).get<double>(), item.at(1).get<double>()) / item.at(2).get<double>(), 1,
                1e-11);
  }
}

TEST(Power, HasLimits) {
  EXPECT_EQ(crossed_power(of_rows(3), 0), 0);
  EXPECT_EQ(crossed_power(of_rows(3), 1), 0);
  EXPECT_EQ(crossed_power(of_rows(HUGE_VAL), 6), 1);
  EXPECT_EQ(crossed_power(of_rows(1), 100'000), 1);
  EXPECT_TRUE(std::isnan(crossed_power(of_rows(nan), 20)));
  for (const std::size_t num_columns : {1U, 2U, 5U, 20U}) {
    EXPECT_NEAR(crossed_power({0, {1, 0.5, 1}, num_columns, 0.05}, 20), 0.05, num_columns == 1 ? 1e-10 : 0.03);
  }
  // the standard deviation far from 0: 1.5 degrees of freedom, both sides of where the distribution is not computed
  const CrossedVariances both{1, 1, 1};
  const double near = crossed_power({34.9 * std::sqrt(0.575), both, 2, 1e-4}, 20);
  EXPECT_NEAR(crossed_power({35.1 * std::sqrt(0.575), both, 2, 1e-4}, 20), near, 0.02);
}

TEST(Power, TakesTheErrorOfTheExpectedMeanSquares) {
  const auto error = expected_squares({1, 0.25, 2}, 20, 5).error();
  EXPECT_NEAR(error.variance, 1.0 / 20 + 0.25 / 5 + 2.0 / 100, 1e-15);
  const auto alone = expected_squares({1, 0, 2}, 20, 5).error();
  EXPECT_NEAR(alone.variance, 1.0 / 20 + 2.0 / 100, 1e-15);
  EXPECT_EQ(alone.degrees, 19);
  const auto none = expected_squares({0, 0, 2}, 20, 5).error();
  EXPECT_NEAR(none.variance, 2.0 / 100, 1e-15);
  EXPECT_EQ(none.degrees, 99);
}

TEST(Power, IsReachedBySimulatedTests) {
  constexpr int num_tables = 2000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  struct Design {
    std::size_t rows;
    std::size_t columns;
    CrossedVariances variances;
    double mean;
  };
  for (const auto& [rows, columns, variances, mean_of_all] : {Design{5, 1, {1, 0, 0}, 1.7},
                                                              {20, 1, {1, 0, 0}, 0.5},
                                                              {20, 5, {1, 0, 1}, 0.65},
                                                              {20, 5, {1, 0.5, 1}, 1.1},
                                                              {20, 5, {0, 0, 1}, 0.28}}) {
    int reached = 0;
    for (int table = 0; table < num_tables; ++table) {
      std::vector<double> effects(columns);
      std::ranges::generate(effects, [&] { return std::sqrt(variances.columns) * normal(random); });
      std::vector<double> cells;
      for (std::size_t row = 0; row < rows; ++row) {
        const double own = std::sqrt(variances.rows) * normal(random);
        for (const double effect : effects) {
          cells.push_back(mean_of_all + own + effect + std::sqrt(variances.rest) * normal(random));
        }
      }
      reached += test_mean(mean(cells).value, crossed_squares(cells, columns).error(), 0.95).p <= 0.05 ? 1 : 0;
    }
    const double promised = crossed_power({mean_of_all, variances, columns, 0.05}, rows);
    const double share = static_cast<double>(reached) / num_tables;
    EXPECT_NEAR(share, promised, 4 * std::sqrt(promised * (1 - promised) / num_tables) + (columns > 1 ? 0.03 : 0))
        << rows << ' ' << columns;
  }
}

TEST(Power, EnoughIsTheFirstThatReachesIt) {
  for (const double effect : {0.05, 0.2, 0.5, 0.8, 1.5, 4.0}) {
    for (const double level : {0.05, 0.01}) {
      const auto enough = enough_rows(of_rows(effect, level), 0.8, 100'000);
      ASSERT_TRUE(enough) << effect;
      EXPECT_GE(crossed_power(of_rows(effect, level), *enough), 0.8) << effect;
      EXPECT_LT(crossed_power(of_rows(effect, level), *enough - 1), 0.8) << effect;
    }
  }
  EXPECT_EQ(enough_rows(of_rows(0.5), 0.8, 100'000), 34U);  // as any table of the paired t test has it
  EXPECT_EQ(enough_rows(of_rows(HUGE_VAL), 0.8, 100'000), 2U);
  EXPECT_EQ(enough_rows(of_rows(0.001), 0.8, 100'000), std::nullopt);
  EXPECT_EQ(enough_rows({0.5, {1, 1, 1}, 5, 0.05}, 0.8, 100'000), std::nullopt);  // columns alone are too few
}

}  // namespace
}  // namespace stereosweep::stats
