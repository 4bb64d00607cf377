#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "stats/CrossedTable.hpp"

namespace stereosweep::stats {
namespace {

TEST(VarianceComponents, OfOneSquareIsExact) {
  const std::vector<CountedSquare> squares = {{2, 3, 7}};
  const auto component = variance_component(squares, 0.9);
  const boost::math::chi_squared chi(7);
  EXPECT_DOUBLE_EQ(component.value, 6);
  EXPECT_NEAR(component.low, 2 * 3 * 7 / boost::math::quantile(chi, 0.95), 1e-9);
  EXPECT_NEAR(component.high, 2 * 3 * 7 / boost::math::quantile(chi, 0.05), 1e-9);
}

TEST(VarianceComponents, OfADifferenceEndsAtZeroWhereTheRatioIsAtItsQuantile) {
  // (F - 1)^2 = G^2 F^2 + H^2 + G_12 F at the quantile of F: Ting et al. choose G_12 so
  const std::vector<CountedSquare> at_quantile = {{0.25, 2.901294536 * 3, 5}, {-0.25, 3, 15}};  // F(0.95; 5, 15)
  EXPECT_NEAR(variance_component(at_quantile, 0.9).low, 0, 1e-6);
  const std::vector<CountedSquare> less = {{0.25, 2.5 * 3, 5}, {-0.25, 3, 15}};
  EXPECT_LT(variance_component(less, 0.9).low, 0);
}

TEST(VarianceComponents, HoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(3);
  const auto square = [&](double expected, double degrees) {
    std::chi_squared_distribution<double> chi(degrees);
    return expected * chi(random) / degrees;
  };
  for (const double own : {0.0, 0.5, 4.0}) {  // squares a + b + c with own in the first, as two crossed facets have
    int held = 0;
    constexpr int sets = 1500;
    for (int set = 0; set < sets; ++set) {
      const std::vector<CountedSquare> squares = {{0.1, square(1 + 0.4 + 0.6 + 10 * own, 9), 9},
                                                  {-0.1, square(1 + 0.4, 81), 81},
                                                  {-0.1, square(1 + 0.6, 9), 9},
                                                  {0.1, square(1, 81), 81}};
      const auto component = variance_component(squares, 0.95);
      held += component.low <= own && own <= component.high ? 1 : 0;
    }
    EXPECT_GT(held, 0.93 * sets) << own;
    EXPECT_LT(held, 0.99 * sets) << own;
  }
}

}  // namespace
}  // namespace stereosweep::stats
