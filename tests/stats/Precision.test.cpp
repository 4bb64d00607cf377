#include "stats/Precision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace stereosweep::stats {
namespace {

TEST(PrecisionAt, CountsBothEnds) {
  const std::vector<double> scores = {5, 4, 3, 0, -1, -2, -3};
  const std::vector<double> human = {80, 20, 70, 50, 10, 90, 30};
  const auto result = precision_at(3, scores, human);
  EXPECT_DOUBLE_EQ(result.top.value, 2.0 / 3);     // 80 and 70 of 80, 20, 70
  EXPECT_DOUBLE_EQ(result.bottom.value, 2.0 / 3);  // 10 and 30 of 10, 90, 30
  EXPECT_DOUBLE_EQ(result.mean.value, 2.0 / 3);
}

TEST(PrecisionAt, TheMiddleCountsForNeither) {
  const std::vector<double> scores = {3, 2, 1};
  const std::vector<double> human = {50, 50, 50};
  EXPECT_EQ(precision_at(3, scores, human).top.value, 0);
  EXPECT_EQ(precision_at(3, scores, human).bottom.value, 0);
}

TEST(PrecisionAt, ChanceIsTheMeanOfAllOrders) {
  std::vector<double> scores = {1, 2, 3, 4, 5};
  const std::vector<double> human = {80, 50, 70, 10, 50};
  double sum = 0;
  int orders = 0;
  do {
    sum += precision_at(3, scores, human).mean.value;
    ++orders;
  } while (std::next_permutation(scores.begin(), scores.end()));
  std::sort(scores.begin(), scores.end());
  EXPECT_EQ(orders, 120);
  EXPECT_NEAR(precision_at(3, scores, human).chance.value, sum / orders, 1e-14);
}

TEST(PrecisionAt, EqualScoresKeepTheOrderOfPairs) {
  const std::vector<double> scores = {1, 1, 1, 1};
  const std::vector<double> human = {90, 10, 10, 10};
  EXPECT_EQ(precision_at(1, scores, human).top.value, 1);
  EXPECT_EQ(precision_at(1, scores, human).bottom.value, 0);
}

TEST(PrecisionAt, SaysWhyItIsUndefined) {
  const std::vector<double> two = {1, 2};
  EXPECT_EQ(precision_at(3, two, two).mean.reason, Reason::too_few);
  const std::vector<double> broken = {1, 2, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(precision_at(3, broken, broken).top.reason, Reason::not_finite);
}

}  // namespace
}  // namespace stereosweep::stats
