#include "stats/PValues.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "stats/ContextGoldens.hpp"
#include "support/ProcessorTime.hpp"

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

TEST(Student, QuantilesAreThoseOfTheClosedForms) {
  for (const double p : {0.5, 0.6, 0.9, 0.975, 0.9999}) {
    const double by_one = std::tan(std::numbers::pi * (p - 0.5));
    const double by_two = (2 * p - 1) * std::sqrt(2 / (4 * p * (1 - p)));
    EXPECT_NEAR(student_quantile(p, 1), by_one, 1e-11 * by_one) << p;
    EXPECT_NEAR(student_quantile(p, 2), by_two, 1e-11 * by_two) << p;
    EXPECT_NEAR(student_quantile(p, 1e12), normal_quantile(p), 1e-9) << p;
  }
  EXPECT_NEAR(student_quantile(0.975, 2.5), 3.5746548420036817, 1e-11);  // scipy.stats.t.ppf
}

constexpr std::array adjustments = {std::pair{Adjustment::holm, "holm"},
                                    std::pair{Adjustment::benjamini_hochberg, "benjamini_hochberg"},
                                    std::pair{Adjustment::benjamini_yekutieli, "benjamini_yekutieli"}};

TEST(MultipleTests, EqualsStatsmodels) {
  ASSERT_GT(context_goldens().at("adjusted").size(), 4U);
  for (const auto& item : context_goldens().at("adjusted")) {
    const auto p = item.at("p").get<std::vector<double>>();
    for (const auto& [adjustment, name] : adjustments) {
      const auto truth = item.at(name).get<std::vector<double>>();
      const auto adjusted = adjusted_p(p, adjustment);
      for (std::size_t i = 0; i < p.size(); ++i) {
        EXPECT_NEAR(adjusted[i], truth[i], 1e-12 * truth[i]) << name << ' ' << i;
      }
    }
  }
}

TEST(MultipleTests, KeepsTinyProbabilitiesAndLeavesOutMissingOnes) {
  const std::vector<double> p = {1e-300, nan, 0.1};
  for (const auto& [adjustment, name] : adjustments) {
    const auto adjusted = adjusted_p(p, adjustment);
    EXPECT_TRUE(std::isnan(adjusted[1])) << name;
    EXPECT_LT(adjusted[0], 1e-299) << name;
  }
  const auto holm = adjusted_p(p, Adjustment::holm);
  EXPECT_NEAR(holm[0], 2e-300, 1e-311);
  EXPECT_NEAR(holm[2], 0.1, 1e-16);
  EXPECT_TRUE(adjusted_p({}, Adjustment::holm).empty());
}

TEST(MultipleTests, TimeGrowsWithTheNumberOfTestsAlone) {
  const std::vector<double> p(200'000, 0.1);
  const ProcessorTime time;
  EXPECT_EQ(adjusted_p(p, Adjustment::benjamini_yekutieli).back(), 1);
  EXPECT_LT(time.seconds(), 5);
}

TEST(PValues, RatioOfMeanSquaresHasTheTailOfF) {
  EXPECT_NEAR(ratio_p(2.901294536, 5, 15), 0.05, 1e-9);
  EXPECT_DOUBLE_EQ(ratio_p(0, 5, 15), 1);
  EXPECT_EQ(ratio_p(HUGE_VAL, 5, 15), 0);
  EXPECT_TRUE(std::isnan(ratio_p(nan, 5, 15)) && std::isnan(ratio_p(1, 0, 15)));
}

}  // namespace

}  // namespace stereosweep::stats
