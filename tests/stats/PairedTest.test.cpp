#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/CrossedTable.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {
namespace {

TEST(PairedTest, EqualsScipy) {
  const auto parsed =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  ASSERT_GT(parsed.at("spreads").size(), 5U);
  for (const auto& item : parsed.at("spreads")) {
    const auto left = item.at("left").get<std::vector<double>>();
    const auto right = item.at("right").get<std::vector<double>>();
    const auto ours = paired_t_test(left, right);
    ASSERT_TRUE(ours.defined());
    EXPECT_EQ(ours.n, left.size());
    EXPECT_NEAR(ours.difference, mean(left).value - mean(right).value, 1e-13);
    const auto t = item.at("t").get<double>();
    const auto p = item.at("p").get<double>();
    EXPECT_NEAR(ours.t, t, 1e-12 * std::abs(t));
    EXPECT_NEAR(ours.p, p, 1e-11 * p);
  }
}

TEST(PairedTest, SaysWhyThereIsNone) {
  using Values = std::vector<double>;
  EXPECT_EQ(paired_t_test({}, {}).reason, Reason::no_values);
  EXPECT_EQ(paired_t_test(Values{3}, Values{1}).reason, Reason::too_few);
  EXPECT_EQ(paired_t_test(Values{3}, Values{1}).difference, 2);
  EXPECT_EQ(paired_t_test(Values{3, 4}, Values{1, 2}).reason, Reason::constant);
  EXPECT_EQ(paired_t_test(Values{1, 2, 3}, Values{1, 2, 3}).reason, Reason::constant);
  const double third = 1.0 / 3;
  EXPECT_EQ(paired_t_test(Values{1 + third, 5 + third, 9 + third}, Values{1, 5, 9}).reason, Reason::constant);
  EXPECT_EQ(paired_t_test(Values{1, NAN}, Values{1, 2}).reason, Reason::not_finite);
  EXPECT_TRUE(std::isnan(paired_t_test(Values{3, 4}, Values{1, 2}).p));
}

}  // namespace
}  // namespace stereosweep::stats
