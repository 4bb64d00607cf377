#include "stats/Summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/ContextGoldens.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {

namespace {

const base::Json& goldens() {
  static const auto parsed =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  return parsed;
}

TEST(Summary, MedianIsTheMiddleOfTheSortedValues) {
  std::mt19937_64 random(7);
  for (std::size_t count = 1; count < 70; ++count) {
    for (int table = 0; table < 20; ++table) {
      std::vector<double> values(count);
      std::ranges::generate(values, [&] { return static_cast<double>(random() % 9) - 4; });  // with ties
      const auto found = median(values).value;
      std::ranges::sort(values);
      EXPECT_EQ(found, (values[(count - 1) / 2] + values[count / 2]) / 2) << count;
    }
  }
}

TEST(Spread, EqualsNumpyAndScipy) {
  ASSERT_GT(goldens().at("spreads").size(), 5U);
  for (const auto& item : goldens().at("spreads")) {
    const auto left = item.at("left").get<std::vector<double>>();
    EXPECT_NEAR(standard_deviation(left).value, item.at("sample").get<double>(), 1e-13);
    EXPECT_NEAR(variation(left).value, item.at("variation").get<double>(), 1e-12);
  }
}

TEST(Mean, OfEqualNumbersIsThatNumber) {
  for (const double number : {0.1, 1.0 / 3, -1e9 / 7, 1e-12 / 9}) {
    for (std::size_t n = 1; n < 2000; ++n) {
      ASSERT_EQ(mean(std::vector<double>(n, number)).value, number) << n;
    }
  }
}

TEST(Spread, SaysWhyThereIsNone) {
  const std::vector<double> one = {3};
  EXPECT_EQ(standard_deviation(one).reason, Reason::too_few);
  EXPECT_EQ(standard_deviation({}).reason, Reason::no_values);
  EXPECT_EQ(variation(std::vector<double>{-1, 1}).reason, Reason::constant);
  EXPECT_EQ(variation(std::vector<double>{1, NAN}).reason, Reason::not_finite);
}

TEST(Proportion, EqualsStatsmodels) {
  ASSERT_GT(context_goldens().at("proportions").size(), 10U);
  for (const auto& item : context_goldens().at("proportions")) {
    const auto interval = fixed_draws_interval(item.at(0).get<std::uint64_t>(), item.at(1).get<std::uint64_t>(),
                                               item.at(2).get<double>());
    EXPECT_NEAR(interval.low, item.at(3).get<double>(), 1e-12 * interval.high);
    EXPECT_NEAR(interval.high, item.at(4).get<double>(), 1e-12 * interval.high);
  }
}

/// P(Bin(draws, p) >= successes).
double at_least(int successes, int draws, double p) {
  double sum = 0;
  for (int k = successes; k <= draws; ++k) {
    sum += std::exp(std::lgamma(draws + 1.0) - std::lgamma(k + 1.0) - std::lgamma(draws - k + 1.0) + k * std::log(p) +
                    (draws - k) * std::log1p(-p));
  }
  return sum;
}

TEST(Proportion, InverseSamplingInvertsTheNumberOfDraws) {
  const auto interval = fixed_successes_interval(5, 40, 0.9);
  EXPECT_NEAR(at_least(5, 40, interval.low), 0.05, 1e-10);       // 40 draws or fewer suffice
  EXPECT_NEAR(1 - at_least(5, 39, interval.high), 0.05, 1e-10);  // 40 draws or more are needed
  EXPECT_LT(interval.low, 0.125);
  EXPECT_GT(interval.high, 0.125);
  EXPECT_EQ(fixed_successes_interval(3, 3, 0.9).high, 1);
}

}  // namespace

}  // namespace stereosweep::stats
