#include "stats/Correlation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/Summary.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {

namespace {

const base::Json& goldens() {
  static const auto parsed =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  return parsed;
}

void expect_close(double ours, double theirs, double relative) {
  EXPECT_LE(std::abs(ours - theirs), relative * std::max(std::abs(theirs), 1e-300)) << ours << " " << theirs;
}

void expect_equal(const Correlation& ours, const base::Json& theirs) {
  ASSERT_TRUE(ours.defined());
  EXPECT_NEAR(ours.value, theirs.at(0).get<double>(), 1e-13);
  expect_close(ours.p, theirs.at(1).get<double>(), 1e-9);
}

TEST(Correlation, EqualsScipy) {
  ASSERT_GT(goldens().at("correlations").size(), 30U);
  for (const auto& item : goldens().at("correlations")) {
    const auto left = item.at("left").get<std::vector<double>>();
    const auto right = item.at("right").get<std::vector<double>>();
    SCOPED_TRACE(item.dump().substr(0, 300));
    expect_equal(kendall_tau_b(left, right), item.at("kendall"));
    if (std::abs(item.at("pearson").at(0).get<double>()) < 1 - 1e-12) {  // beyond, p is rounding noise on both sides
      expect_equal(pearson(left, right), item.at("pearson"));
    }
    if (std::abs(item.at("spearman").at(0).get<double>()) < 1 - 1e-12) {
      expect_equal(spearman(left, right), item.at("spearman"));
    }
  }
}

TEST(Correlation, OfEqualOrdersIsOne) {
  std::vector<double> numbers;
  for (int n = 3; n < 40; ++n) {
    numbers.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      numbers[static_cast<std::size_t>(i)] = i * i % 11 + 0.01 * i;
    }
    std::vector<double> cubes;
    std::ranges::transform(numbers, std::back_inserter(cubes), [](double value) { return value * value * value; });
    EXPECT_EQ(spearman(numbers, cubes).value, 1) << n;
    EXPECT_EQ(spearman(numbers, cubes).p, 0) << n;
  }
}

TEST(Correlation, PNearOneKeepsItsDigits) {
  const std::vector<double> left = {1, 2, 3};
  const std::vector<double> right = {1, -2, 1 + 1e-9};
  const auto found = pearson(left, right);  // two degrees less one: p = 1 - 2 asin(r) / pi
  EXPECT_NEAR(found.p, 1 - 2 * std::asin(std::abs(found.value)) / std::numbers::pi, 1e-15);
  EXPECT_NEAR(pearson(left, std::vector<double>{1.1, 0.3, 1.1}).p, 1, 1e-15);
}

TEST(KendallTau, EqualsItsDefinitionWithTies) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const auto n = 2 + random() % 30;
    std::vector<double> left(n);
    std::vector<double> right(n);
    std::generate(left.begin(), left.end(), [&] { return static_cast<double>(random() % 7); });
    std::generate(right.begin(), right.end(), [&] { return static_cast<double>(random() % 5); });
    double numerator = 0;
    double left_pairs = 0;
    double right_pairs = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        const auto sign = [](double x) { return (x > 0) - (x < 0); };
        const auto a = sign(left[i] - left[j]);
        const auto b = sign(right[i] - right[j]);
        numerator += a * b;
        left_pairs += a * a;
        right_pairs += b * b;
      }
    }
    const auto ours = kendall_tau_b(left, right);
    if (left_pairs == 0 || right_pairs == 0) {
      EXPECT_EQ(ours.reason, Reason::constant);
    } else {
      EXPECT_NEAR(ours.value, numerator / std::sqrt(left_pairs * right_pairs), 1e-14);
    }
  }
}

TEST(KendallTau, ExactPCountsPermutations) {
  std::vector<int> permutation(7);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<int> histogram(22, 0);
  do {
    int inversions = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      for (std::size_t j = i + 1; j < 7; ++j) {
        inversions += permutation[i] > permutation[j] ? 1 : 0;
      }
    }
    ++histogram[static_cast<std::size_t>(inversions)];
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  double sum = 0;
  for (std::size_t k = 0; k < histogram.size(); ++k) {
    sum += histogram[k] / 5040.0;
    EXPECT_NEAR(inversion_probability(7, k), sum, 1e-14);
  }
}

TEST(Correlation, SaysWhyItIsUndefined) {
  const std::vector<double> none;
  const std::vector<double> one = {1};
  const std::vector<double> equal = {2, 2, 2};
  const std::vector<double> rising = {1, 2, 3};
  const std::vector<double> broken = {1, NAN, 3};
  for (const auto& function : {kendall_tau_b, pearson, spearman}) {
    EXPECT_EQ(function(none, none).reason, Reason::no_values);
    EXPECT_EQ(function(one, one).reason, Reason::too_few);
    EXPECT_EQ(function(rising, equal).reason, Reason::constant);
    EXPECT_EQ(function(broken, rising).reason, Reason::not_finite);
    EXPECT_TRUE(std::isnan(function(rising, equal).value));
  }
}

TEST(Aggregate, EqualsNumpyAndScipy) {
  for (const auto& item : goldens().at("aggregates")) {
    const auto values = item.at("values").get<std::vector<double>>();
    EXPECT_NEAR(mean(values).value, item.at("mean").get<double>(), 1e-15);
    EXPECT_NEAR(median(values).value, item.at("median").get<double>(), 1e-15);
    EXPECT_NEAR(log_sum_exp(values).value, item.at("log_sum_exp").get<double>(), 1e-14);
    EXPECT_EQ(average_ranks(values), item.at("ranks").get<std::vector<double>>());
  }
}

TEST(Aggregate, HoldsAtTheEdges) {
  const std::vector<double> none;
  const std::vector<double> far = {-1000, -1000};
  const std::vector<double> impossible = {-INFINITY, -INFINITY};
  const std::vector<double> broken = {1, NAN};
  EXPECT_EQ(mean(none).reason, Reason::no_values);
  EXPECT_EQ(median(none).reason, Reason::no_values);
  EXPECT_EQ(log_sum_exp(none).reason, Reason::no_values);
  EXPECT_EQ(median(broken).reason, Reason::not_finite);
  EXPECT_EQ(log_sum_exp(broken).reason, Reason::not_finite);
  EXPECT_NEAR(log_sum_exp(far).value, -1000 + std::log(2), 1e-12);
  EXPECT_EQ(log_sum_exp(impossible).value, -INFINITY);
}

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
