#include "stats/OptionProbabilities.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stereosweep::stats {

namespace {

TEST(OptionProbabilities, sum_to_one_and_ignore_a_common_offset) {
  const std::vector<double> logprob = {-1, -2, -700};
  const auto shares = option_probabilities(logprob);
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-15);
  EXPECT_NEAR(shares[0] / shares[1], std::exp(1.0), 1e-12);
  const std::vector<double> lower = {-1001, -1002, -1700};
  EXPECT_NEAR(option_probabilities(lower)[0], shares[0], 1e-12);
  EXPECT_TRUE(option_probabilities(std::vector<double>{-1, NAN}).empty());
  EXPECT_TRUE(option_probabilities(std::vector<double>{-INFINITY, -INFINITY}).empty());
  EXPECT_TRUE(option_probabilities({}).empty());
}

TEST(RateOptions, a_liking_for_a_place_cancels_out) {
  const std::vector<double> values = {1, 2, 3};
  const std::vector<double> by_place = {std::log(0.7), std::log(0.2), std::log(0.1)};  // first, second, third place
  const std::vector<double> reversed(by_place.rbegin(), by_place.rend());
  const auto rated = rate_options(by_place, reversed, values);
  EXPECT_NEAR(rated.rating.value, 2, 1e-12) << "the middle of the scale";
  EXPECT_NEAR(rated.difference.value, 1.4 - 2.6, 1e-12);
  const auto steady = rate_options(by_place, by_place, values);
  EXPECT_NEAR(steady.rating.value, 1.4, 1e-12);
  EXPECT_NEAR(steady.difference.value, 0, 1e-12);
  EXPECT_FALSE(rate_options(std::vector<double>{NAN, 0, 0}, by_place, values).rating.defined());
}

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
