#include "stats/Ratings.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace stereosweep::stats
