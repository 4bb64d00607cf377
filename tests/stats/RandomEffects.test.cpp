#include "stats/embedding/RandomEffects.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stats/ContextGoldens.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::stats {
namespace {

struct Case {
  std::vector<double> effects;
  std::vector<double> variances;
};

Case case_of(const base::Json& item) {
  return {item.at("effects").get<std::vector<double>>(), item.at("variances").get<std::vector<double>>()};
}

void expect_close(double value, double truth, const std::string& what) {
  EXPECT_NEAR(value, truth, 1e-12 * std::max(1e-3, std::abs(truth))) << what;
}

constexpr std::array estimators = {TauEstimator::dersimonian_laird, TauEstimator::reml, TauEstimator::paule_mandel};

TEST(RandomEffects, EqualsStatsmodelsAndSixtyDigitLikelihood) {
  const std::array names = {"dersimonian_laird", "reml", "paule_mandel"};
  ASSERT_GT(context_goldens().at("meta").size(), 5U);
  for (const auto& item : context_goldens().at("meta")) {
    const auto [effects, variances] = case_of(item);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto result = combine_effects(effects, variances, estimators[i], 0.95);
      const auto what = std::string(names[i]) + " of " + std::to_string(effects.size());
      const auto& truth = item.at(names[i]);
      ASSERT_TRUE(result.defined());
      EXPECT_NEAR(result.tau_squared, truth.at("tau_squared").get<double>(), 2e-12) << what;
      expect_close(result.effect, truth.at("effect").get<double>(), what);
      expect_close(result.standard_error, truth.at("error").get<double>(), what);
      expect_close(result.q, item.at("q").get<double>(), what);
      expect_close(result.i_squared, item.at("i_squared").get<double>(), what);
      expect_close(result.fixed_effect, item.at("fixed_effect").get<double>(), what);
      if (truth.contains("low")) {
        expect_close(result.low, truth.at("low").get<double>(), what);
        expect_close(result.high, truth.at("high").get<double>(), what);
      }
    }
  }
}

TEST(RandomEffects, GivesAllPrintedDigitsOfTheBcgTrials) {
  const auto [effects, variances] = case_of(context_goldens().at("meta").at(0));
  ASSERT_EQ(effects.size(), 13U);
  const auto moments = combine_effects(effects, variances, TauEstimator::dersimonian_laird, 0.95);
  EXPECT_NEAR(moments.tau_squared, .30876026286237634, 1e-14);
  EXPECT_NEAR(moments.effect, -.7141172220732269, 1e-14);
  EXPECT_NEAR(moments.standard_error, .17874208953540316, 1e-14);
  EXPECT_NEAR(moments.q, 152.23300808237337, 1e-12);
  const auto likelihood = combine_effects(effects, variances, TauEstimator::reml, 0.95);
  EXPECT_NEAR(likelihood.tau_squared, .31324325813648624, 1e-14);
  EXPECT_NEAR(likelihood.effect, -.7145323421581397, 1e-14);
  EXPECT_NEAR(likelihood.standard_error, .17978151610520698, 1e-14);
  const auto paule_mandel = combine_effects(effects, variances, TauEstimator::paule_mandel, 0.95);
  EXPECT_NEAR(paule_mandel.tau_squared, .3180684522050241, 1e-13);
  EXPECT_NEAR(paule_mandel.effect, -.7149681534934441, 1e-13);
  EXPECT_NEAR(paule_mandel.standard_error, .1808921915376235, 1e-13);
}

TEST(RandomEffects, FindsTheHigherOfTwoLikelihoodMaxima) {
  // two tight groups far apart in one, and one wide study: the score changes sign more than once
  const std::vector<double> effects = {0, 0.001, 0.002, 3, 3.001};
  const std::vector<double> variances = {1e-6, 1e-6, 1e-6, 4, 4};
  const auto result = combine_effects(effects, variances, TauEstimator::reml, 0.95);
  ASSERT_TRUE(result.defined());
  const auto likelihood = [&](double tau) {
    double weights = 0;
    double products = 0;
    for (std::size_t i = 0; i < effects.size(); ++i) {
      weights += 1 / (variances[i] + tau);
      products += effects[i] / (variances[i] + tau);
    }
    double value = -0.5 * std::log(weights);
    for (std::size_t i = 0; i < effects.size(); ++i) {
      const double difference = effects[i] - products / weights;
      value -= 0.5 * (std::log(variances[i] + tau) + difference * difference / (variances[i] + tau));
    }
    return value;
  };
  for (double tau = 1e-9; tau < 100; tau *= 1.1) {
    EXPECT_GE(likelihood(result.tau_squared) + 1e-12, likelihood(tau)) << tau;
  }
}

/// One sample, or copies of one, say nothing about the next one: no error, no interval, no z.
TEST(RandomEffects, OneSampleAndEqualSamplesHaveNoError) {
  const std::vector<double> one = {0.4};
  const std::vector<double> one_variance = {0.25};
  const std::vector<double> equal = {0.4, 0.4, 0.4, 0.4};
  const std::vector<double> equal_variances(4, 0.25);
  for (const auto estimator : estimators) {
    const auto single = combine_effects(one, one_variance, estimator, 0.95);
    ASSERT_TRUE(single.defined());
    EXPECT_EQ(single.effect, 0.4);
    EXPECT_EQ(single.tau_squared, 0);
    EXPECT_EQ(single.q, 0);
    const auto four = combine_effects(equal, equal_variances, estimator, 0.95);
    ASSERT_TRUE(four.defined());
    EXPECT_NEAR(four.effect, 0.4, 1e-15);
    EXPECT_EQ(four.tau_squared, 0);
    for (const auto& result : {single, four}) {
      EXPECT_EQ(result.error_reason, Reason::too_few);
      for (const double value : {result.standard_error, result.low, result.high, result.z, result.log10_p_two_sided,
                                 result.log10_p_one_sided}) {
        EXPECT_TRUE(std::isnan(value));
      }
    }
  }
}

/// The published V is in cosine^2: another unit of the cosines changes the weights and the error, not one effect.
TEST(RandomEffects, PublishedVarianceDependsOnTheUnitOfCosines) {
  std::vector<double> effects;
  std::vector<double> published;
  std::vector<double> rescaled;
  std::vector<double> cohen;
  for (int i = 0; i < 200; ++i) {
    const double wobble = std::sin(i * 1.7);
    effects.push_back(0.5 + 0.06 * wobble);
    published.push_back(0.0016 * (1 + 0.5 * std::cos(i * 2.3)));
    rescaled.push_back(900 * published.back());  // cosines times 30
    cohen.push_back(cohen_variance(effects.back(), 8, 8));
  }
  const auto plain = combine_effects(effects, published, TauEstimator::dersimonian_laird, 0.95);
  const auto scaled = combine_effects(effects, rescaled, TauEstimator::dersimonian_laird, 0.95);
  EXPECT_GT(scaled.standard_error, 10 * plain.standard_error);
  EXPECT_GT(plain.tau_squared, 0);
  EXPECT_EQ(scaled.tau_squared, 0);
  EXPECT_EQ(combine_effects(effects, cohen, TauEstimator::dersimonian_laird, 0.95).tau_squared, 0);
}

TEST(RandomEffects, NeverUnderflows) {
  std::vector<double> effects(10'000, 1.5);
  effects[0] += 1e-12;  // equal samples have no z
  const std::vector<double> variances(10'000, 1e-4);
  const auto result = combine_effects(effects, variances, TauEstimator::dersimonian_laird, 0.95);
  EXPECT_NEAR(result.z, 15'000, 1e-6);
  const double leading = -result.z * result.z / (2 * std::numbers::ln10);  // of erfc(z / sqrt 2)
  EXPECT_NEAR(result.log10_p_two_sided, leading - std::log10(result.z * std::sqrt(std::numbers::pi / 2)), 1e-7);
  std::vector<double> negative(10'000, -1.5);
  negative[0] -= 1e-12;
  const auto other = combine_effects(negative, variances, TauEstimator::dersimonian_laird, 0.95);
  EXPECT_EQ(other.log10_p_two_sided, result.log10_p_two_sided);
  EXPECT_EQ(other.log10_p_one_sided, 0);
}

TEST(RandomEffects, SaysWhyThereIsNone) {
  const std::vector<double> two = {1, 2};
  const std::vector<double> zero = {1, 0};
  EXPECT_EQ(combine_effects({}, {}, TauEstimator::reml, 0.95).reason, Reason::no_values);
  const auto result = combine_effects(two, zero, TauEstimator::reml, 0.95);
  EXPECT_EQ(result.reason, Reason::not_finite);
  EXPECT_TRUE(std::isnan(result.effect));
}

}  // namespace
}  // namespace stereosweep::stats
