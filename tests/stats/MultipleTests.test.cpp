#include "stats/MultipleTests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "stats/ContextGoldens.hpp"

namespace stereosweep::stats {
namespace {

constexpr std::array adjustments = {std::pair{Adjustment::holm, "holm"},
                                    std::pair{Adjustment::benjamini_hochberg, "benjamini_hochberg"},
                                    std::pair{Adjustment::benjamini_yekutieli, "benjamini_yekutieli"}};

TEST(MultipleTests, EqualsStatsmodels) {
  ASSERT_GT(context_goldens().at("adjusted").size(), 4U);
  for (const auto& item : context_goldens().at("adjusted")) {
    auto p = item.at("p").get<std::vector<double>>();
    for (auto& value : p) {
      value = std::log10(value);
    }
    for (const auto& [adjustment, name] : adjustments) {
      const auto truth = item.at(name).get<std::vector<double>>();
      const auto adjusted = adjust_log10_p(p, adjustment);
      for (std::size_t i = 0; i < p.size(); ++i) {
        EXPECT_NEAR(std::pow(10, adjusted[i]), truth[i], 1e-12 * truth[i]) << name << ' ' << i;
      }
    }
  }
}

TEST(MultipleTests, KeepsTinyProbabilitiesAndLeavesOutMissingOnes) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> log10_p = {-2000, nan, -1};
  for (const auto& [adjustment, name] : adjustments) {
    const auto adjusted = adjust_log10_p(log10_p, adjustment);
    EXPECT_TRUE(std::isnan(adjusted[1])) << name;
    EXPECT_LT(adjusted[0], -1999) << name;
  }
  const auto holm = adjust_log10_p(log10_p, Adjustment::holm);
  EXPECT_NEAR(holm[0], -2000 + std::log10(2), 1e-12);
  EXPECT_EQ(holm[2], -1);
  EXPECT_TRUE(adjust_log10_p({}, Adjustment::holm).empty());
}

}  // namespace
}  // namespace stereosweep::stats
