#include "stats/RateInterval.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr ScaleEnds share{0, 1};

/// Of rows whose mean has this variance with at most these degrees of freedom.
CellsTest test_rows(double mean, const MeanError& error, std::size_t num_rows, const ScaleEnds& ends,
                    double confidence = 0.95) {
  auto squares = complete_squares(error.variance, 0, 0, num_rows, 1);
  squares.most_row_degrees = error.degrees;
  return test_cells(squares, mean, ends, confidence);
}

TEST(RateInterval, OfIndependentAnswersIsThatOfClopperAndPearson) {
  for (const auto& [successes, draws] : {std::pair{3, 10}, {9, 10}, {1, 20}, {37, 40}}) {
    std::vector<double> cells(static_cast<std::size_t>(draws), 0);
    std::fill_n(cells.begin(), successes, 1.0);
    const double mean = static_cast<double>(successes) / draws;
    const auto own = test_cells(crossed_squares(cells, 1), mean, share, 0.95);
    const auto exact =
        fixed_draws_interval(static_cast<std::uint64_t>(successes), static_cast<std::uint64_t>(draws), 0.95);
    EXPECT_NEAR(own.low, exact.low, 1e-9) << successes;
    EXPECT_NEAR(own.high, exact.high, 1e-9) << successes;
    EXPECT_EQ(own.reason, Reason::ok);
  }
}

TEST(RateInterval, OfEqualScoresIsThatOfTheIndependentOnesAndNoPoint) {
  const auto all = test_rows(1, {0, nan}, 10, share);
  EXPECT_NEAR(all.low, std::pow(0.025, 0.1), 1e-12);
  EXPECT_EQ(all.high, 1);
  EXPECT_EQ(all.reason, Reason::constant);
  const auto none = test_rows(0, {0, nan}, 40, share, 0.9);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.05, 1.0 / 40), 1e-12);
  const auto middle = test_rows(3, {0, nan}, 10, {1, 5});
  const auto five_of_ten = fixed_draws_interval(5, 10, 0.95);
  EXPECT_NEAR(middle.low, 1 + 4 * five_of_ten.low, 1e-9);
  EXPECT_NEAR(middle.high, 1 + 4 * five_of_ten.high, 1e-9);
}

TEST(RateInterval, FarFromTheEndsIsThatOfStudent) {
  for (const double degrees : {2.0, 4.0, 9.0}) {
    const double variance = 1e-6;
    const auto own = test_rows(3.2, {variance, degrees}, 10, {1, 5});
    const double half = student_quantile(0.975, degrees) * std::sqrt(variance);
    EXPECT_NEAR(3.2 - own.low, half, 0.06 * half) << degrees;
    EXPECT_NEAR(own.high - 3.2, half, 0.06 * half) << degrees;
  }
}

TEST(RateInterval, LiesInsideTheEndsAndHoldsTheMean) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit;
  for (int set = 0; set < 2000; ++set) {
    const double mean = 1 + 4 * std::pow(unit(random), 3);
    const MeanError error{4 * std::pow(unit(random), 4), 1 + 20 * unit(random)};
    const auto own = test_rows(mean, error, 3 + set % 30, {1, 5});
    EXPECT_GE(own.low, 1);
    EXPECT_LE(own.low, mean);
    EXPECT_GE(own.high, mean);
    EXPECT_LE(own.high, 5);
  }
}

TEST(RateInterval, SaysWhyThereIsNone) {
  EXPECT_EQ(test_rows(0.5, {0.1, 1}, 1, share).reason, Reason::too_few);
  EXPECT_EQ(test_rows(0.5, {0.1, 1}, 2, share).reason, Reason::too_few);
  EXPECT_EQ(test_rows(1.5, {0.1, 1}, 9, share).reason, Reason::not_finite);
  EXPECT_EQ(test_rows(0.5, {0.1, 0}, 9, share).reason, Reason::not_finite);
  EXPECT_TRUE(std::isnan(test_rows(nan, {0.1, 1}, 9, share).low));
}

TEST(CellsTest, OfScoresWhoseSquaresAreNoNumbersSaysSo) {
  for (const double unit : {1e155, 2e307}) {
    for (const std::size_t columns : {1U, 2U}) {
      const std::vector<double> cells = {unit, -2 * unit, 3 * unit, 5 * unit, 7 * unit, unit};
      const auto test = test_cells(crossed_squares(cells, columns), 2.5 * unit, std::nullopt, 0.95);
      EXPECT_EQ(test.reason, Reason::not_finite);
      EXPECT_TRUE(std::isnan(test.low) && std::isnan(test.high) && std::isnan(test.p));
    }
  }
}

TEST(RateInterval, HasThePOfTheBinomialTestAroundZero) {
  std::vector<double> cells(10, 1);
  cells[4] = -1;
  const auto test = test_cells(crossed_squares(cells, 1), 0.8, ScaleEnds{-1, 1}, 0.95);
  EXPECT_NEAR(test.p, 2 * 11.0 / 1024, 1e-12);  // nine or more of ten
  EXPECT_TRUE(std::isnan(test_cells(crossed_squares(cells, 1), 0.8, ScaleEnds{0, 1}, 0.95).p));
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> rating(-3, 3);
  for (int table = 0; table < 3000; ++table) {
    std::vector<double> ratings(24);
    std::ranges::generate(ratings, [&] { return std::max(-3, std::min(3, rating(random) + table % 3)); });
    const auto own = test_cells(crossed_squares(ratings, 4), mean(ratings).value, ScaleEnds{-3, 3}, 0.9);
    ASSERT_EQ(own.reason, Reason::ok);
    EXPECT_EQ(own.p<0.1, own.low> 0 || own.high < 0) << own.p << ' ' << own.low << ' ' << own.high;
  }
}

/// Share of the simulated rates whose interval holds the truth.
double coverage(double truth, std::size_t templates, std::size_t rephrasings) {
  std::mt19937_64 random(7);
  std::bernoulli_distribution answer(truth);
  int held = 0;
  constexpr int sets = 1500;
  for (int set = 0; set < sets; ++set) {
    std::vector<double> cells(templates * rephrasings);
    std::ranges::generate(cells, [&] { return answer(random) ? 1.0 : 0.0; });
    const auto own = test_cells(crossed_squares(cells, rephrasings), mean(cells).value, share, 0.95);
    held += own.low <= truth && truth <= own.high ? 1 : 0;
  }
  return static_cast<double>(held) / sets;
}

TEST(RateInterval, HoldsTheTruthAsOftenAsItSays) {
  for (const std::size_t templates : {10U, 20U, 40U}) {
    for (const double truth : {0.5, 0.9, 0.95, 0.99}) {
      EXPECT_GT(coverage(truth, templates, 1), 0.93) << templates << " " << truth;
      EXPECT_GT(coverage(truth, templates, 4), 0.92) << templates << " " << truth;
    }
    EXPECT_LT(coverage(0.5, templates, 1), 0.985);
  }
}

}  // namespace
}  // namespace stereosweep::stats
