#include "stats/Spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/File.hpp"
#include "base/Json.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {
namespace {

const base::Json& goldens() {
  static const auto parsed =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  return parsed;
}

TEST(Spread, EqualsNumpyAndScipy) {
  ASSERT_GT(goldens().at("spreads").size(), 5U);
  for (const auto& item : goldens().at("spreads")) {
    const auto left = item.at("left").get<std::vector<double>>();
    const auto right = item.at("right").get<std::vector<double>>();
    EXPECT_NEAR(standard_deviation(left).value, item.at("sample").get<double>(), 1e-13);
    EXPECT_NEAR(standard_deviation(left, Divisor::population).value, item.at("population").get<double>(), 1e-13);
    EXPECT_NEAR(variation(left).value, item.at("variation").get<double>(), 1e-12);
    const auto test = paired_t(left, right);
    ASSERT_TRUE(test.defined());
    EXPECT_NEAR(test.t, item.at("t").get<double>(), 1e-11 * std::abs(test.t));
    EXPECT_NEAR(test.p, item.at("p").get<double>(), 1e-10 * test.p);
    EXPECT_EQ(test.n, left.size());
  }
}

TEST(Spread, SaysWhyThereIsNone) {
  const std::vector<double> one = {3};
  EXPECT_EQ(standard_deviation(one).reason, Reason::too_few);
  EXPECT_EQ(standard_deviation(one, Divisor::population).value, 0);
  EXPECT_EQ(standard_deviation({}).reason, Reason::no_values);
  EXPECT_EQ(variation(std::vector<double>{-1, 1}).reason, Reason::constant);
  EXPECT_EQ(variation(std::vector<double>{1, NAN}).reason, Reason::not_finite);
  EXPECT_EQ(paired_t(one, one).reason, Reason::too_few);
}

TEST(PairedTest, EqualDifferencesAreAsInScipy) {
  const std::vector<double> left = {1, 2, 3};
  const auto zero = paired_t(left, left);
  EXPECT_EQ(zero.reason, Reason::constant);
  EXPECT_TRUE(std::isnan(zero.t) && std::isnan(zero.p));
  const auto shifted = paired_t(std::vector<double>{2, 3, 4}, left);
  EXPECT_EQ(shifted.reason, Reason::constant);
  EXPECT_EQ(shifted.t, INFINITY);
  EXPECT_EQ(shifted.p, 0);
}

}  // namespace
}  // namespace stereosweep::stats
