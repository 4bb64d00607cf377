#include "stats/Normal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stats/ContextGoldens.hpp"

namespace stereosweep::stats {
namespace {

TEST(Normal, TailsEqualSixtyDigitArithmetic) {
  ASSERT_GT(context_goldens().at("tails").size(), 10U);
  for (const auto& item : context_goldens().at("tails")) {
    const auto z = item.at(0).get<double>();
    const auto one = item.at(1).get<double>();
    const auto two = item.at(2).get<double>();
    EXPECT_NEAR(log10_p_one_sided(z), one, 1e-14 * std::abs(one)) << z;
    EXPECT_NEAR(log10_p_two_sided(z), two, 1e-14 * std::abs(two)) << z;
  }
}

TEST(Normal, TailsHaveThePrintedDigits) {
  EXPECT_NEAR(log10_p_two_sided(5), -6.241615676726673, 1e-14);
  EXPECT_NEAR(log10_p_two_sided(-10), -22.817023409822095, 1e-13);
  EXPECT_NEAR(log10_p_two_sided(38), -315.2387597082985, 1e-12);
  EXPECT_NEAR(log10_p_two_sided(40), -349.1359764636819, 1e-12);
  EXPECT_NEAR(log10_p_two_sided(100), -2173.5705128733703, 1e-11);
  EXPECT_NEAR(log10_p_two_sided(1000), -217150.339012, 1e-6);
}

TEST(Normal, TailsHaveEnds) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(log_upper_tail(infinity), -infinity);
  EXPECT_EQ(log_upper_tail(-infinity), 0);
  EXPECT_TRUE(std::isnan(log_upper_tail(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isfinite(log10_p_two_sided(1e150)));
}

TEST(Normal, QuantileInvertsTheTail) {
  for (const double z : {-3.0, -0.5, 0.0, 0.1, 1.959963984540054, 5.0}) {
    EXPECT_NEAR(normal_quantile(-std::expm1(log_upper_tail(z))), z, 1e-9) << z;
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
}

}  // namespace
}  // namespace stereosweep::stats
