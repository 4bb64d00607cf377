#include "stats/Coreference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stereosweep::stats {
namespace {

TEST(CoreferenceMetrics, FollowTheirDefinitions) {
  const std::vector<double> referent = {std::log(0.5), std::log(0.4)};
  const std::vector<double> other = {std::log(0.1)};
  const auto metrics = coreference_metrics(referent, other, Ties::half);
  EXPECT_NEAR(metrics[0], 0.2, 1e-15);
  EXPECT_NEAR(metrics[1], 0.2 / 0.3, 1e-15);
  const double per_subword = std::sqrt(0.2);
  EXPECT_NEAR(metrics[2], per_subword / (per_subword + 0.1), 1e-15);
  EXPECT_EQ(metrics[3], 1);
  EXPECT_NEAR(metrics[4], -(2.0 / 3) * std::log(2.0 / 3) - (1.0 / 3) * std::log(1.0 / 3), 1e-15);
  EXPECT_NEAR(metrics[5], std::log(2), 1e-15);
}

TEST(CoreferenceMetrics, TiesCountAsStated) {
  const std::vector<double> same = {-1};
  EXPECT_EQ(coreference_metrics(same, same, Ties::half)[3], 0.5);
  EXPECT_EQ(coreference_metrics(same, same, Ties::loss)[3], 0);
  EXPECT_NEAR(coreference_metrics(same, same, Ties::half)[4], std::log(2), 1e-15);
}

TEST(CoreferenceMetrics, SwapGivesTheComplement) {
  const std::vector<double> left = {-3.5, -0.25};
  const std::vector<double> right = {-1.5};
  const auto one = coreference_metrics(left, right, Ties::half);
  const auto two = coreference_metrics(right, left, Ties::half);
  EXPECT_NEAR(one[1] + two[1], 1, 1e-15);
  EXPECT_NEAR(one[4], two[4], 1e-15);
  EXPECT_EQ(one[3] + two[3], 1);
}

TEST(CoreferenceMetrics, ExtremesStayFinite) {
  const std::vector<double> sure = {-1e-9};
  const std::vector<double> never = {-2000};
  const auto metrics = coreference_metrics(sure, never, Ties::half);
  EXPECT_EQ(metrics[1], 1);
  EXPECT_EQ(metrics[4], 0);
  EXPECT_EQ(coreference_metrics(never, sure, Ties::half)[1], 0);
  // At a margin of 30 the entropy is e^-30 (30 + 1) to first order; 1 - share would have lost its digits.
  const std::vector<double> near_zero = {-30};
  const std::vector<double> zero = {0};
  EXPECT_NEAR(coreference_metrics(zero, near_zero, Ties::half)[4] / (std::exp(-30) * 31), 1, 1e-12);
}

}  // namespace
}  // namespace stereosweep::stats
