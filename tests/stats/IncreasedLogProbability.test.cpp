#include "stats/IncreasedLogProbability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace stereosweep::stats {
namespace {

/// A word of two subwords whose probabilities are easy to follow by hand.
struct Example {
  std::vector<double> logprob = {std::log(0.2), std::log(0.5)};
  std::vector<double> initial = {std::log(0.8), std::log(0.9)};
  std::vector<double> continuation = {std::log(0.2), std::log(0.1)};
  std::vector<double> bias = {0.5, 0.25};
  std::vector<double> plain = {0.75, 0.125};
  WordNumbers numbers() const { return {logprob, initial, continuation, bias, plain}; }
};

TEST(FoldSubwords, FollowsEachVariantsDefinition) {
  const Example word;
  const auto fold = [&](Measure measure) { return fold_subwords(measure, word.numbers()).value; };
  EXPECT_DOUBLE_EQ(fold(Measure::ilps_first), std::log(0.2));
  EXPECT_DOUBLE_EQ(fold(Measure::ilps_last), std::log(0.5));
  EXPECT_DOUBLE_EQ(fold(Measure::ilps_chain), std::log(0.1));
  EXPECT_NEAR(fold(Measure::ilps_star), std::log(0.2 / 0.8) + std::log(0.5 / 0.1), 1e-14);
  EXPECT_DOUBLE_EQ(fold(Measure::set_code_augmented), std::log(1 - 0.5));
  EXPECT_DOUBLE_EQ(fold(Measure::set_code_plain), std::log(1 - 0.75));
  EXPECT_DOUBLE_EQ(fold(Measure::set_paper_augmented), -std::log(0.25 * 0.25));
  EXPECT_DOUBLE_EQ(fold(Measure::set_paper_plain), -std::log(0.125 * 0.125));
  EXPECT_DOUBLE_EQ(fold(Measure::set_hardest_augmented), -std::log(0.5 * 0.5));
  EXPECT_DOUBLE_EQ(fold(Measure::set_hardest_plain), -std::log(0.75 * 0.75));
}

TEST(Association, IsTheDifferenceToThePrior) {
  Example group;
  Example prior;
  prior.logprob = {std::log(0.1), std::log(0.25)};
  prior.bias = {0.8, 0.1};
  const auto score = [&](Measure measure) {
    return association(fold_subwords(measure, group.numbers()), fold_subwords(measure, prior.numbers())).value;
  };
  EXPECT_NEAR(score(Measure::ilps_first), std::log(2), 1e-15);
  EXPECT_NEAR(score(Measure::ilps_chain), std::log(4), 1e-15);
  EXPECT_NEAR(score(Measure::set_code_augmented), std::log(0.5 / 0.2), 1e-15);
  EXPECT_NEAR(score(Measure::set_paper_augmented), -std::log(0.0625 / 0.01), 1e-14);
  EXPECT_NEAR(score(Measure::set_paper_plain), 0, 1e-15);
}

TEST(Association, EveryUndefinedScoreHasAReason) {
  const Example fine;
  Example far;
  far.bias = {0.2, 1.0};
  Example leads;
  leads.plain = {0.0, 0.5};
  Example broken;
  broken.logprob[1] = NAN;
  const auto status = [&](Measure measure, const Example& group, const Example& prior) {
    const auto score = association(fold_subwords(measure, group.numbers()), fold_subwords(measure, prior.numbers()));
    EXPECT_EQ(std::isnan(score.value), score.status != ScoreStatus::ok);
    return score.status;
  };
  EXPECT_EQ(status(Measure::set_code_augmented, far, fine), ScoreStatus::group_distance_at_least_one);
  EXPECT_EQ(status(Measure::set_code_augmented, fine, far), ScoreStatus::prior_distance_at_least_one);
  EXPECT_EQ(status(Measure::set_code_plain, leads, fine), ScoreStatus::ok);
  EXPECT_EQ(status(Measure::set_paper_plain, leads, fine), ScoreStatus::group_distance_zero);
  EXPECT_EQ(status(Measure::set_paper_plain, fine, leads), ScoreStatus::prior_distance_zero);
  EXPECT_EQ(status(Measure::ilps_first, broken, fine), ScoreStatus::ok);
  EXPECT_EQ(status(Measure::ilps_chain, broken, fine), ScoreStatus::group_not_scored);
  EXPECT_EQ(status(Measure::ilps_star, fine, broken), ScoreStatus::prior_not_scored);
}

TEST(Association, MeasuresThatWereNotTakenAreNotScored) {
  const Example word;
  const WordNumbers only_logprob{word.logprob, {}, {}, {}, {}};
  for (std::size_t place = 0; place < num_measures; ++place) {
    const auto measure = static_cast<Measure>(place);
    const bool needs_more = measure == Measure::ilps_star || name_of(measure).starts_with("set");
    EXPECT_EQ(fold_subwords(measure, only_logprob).status, needs_more ? ScoreStatus::group_not_scored : ScoreStatus::ok)
        << name_of(measure);
    EXPECT_EQ(fold_subwords(measure, {}).status, ScoreStatus::group_not_scored);
  }
}

TEST(Measure, HasItsOwnNameAndDescription) {
  std::set<std::string_view> names;
  for (std::size_t place = 0; place < num_measures; ++place) {
    const auto measure = static_cast<Measure>(place);
    names.insert(name_of(measure));
    names.insert(description_of(measure));
  }
  EXPECT_EQ(names.size(), 2 * num_measures);
}

TEST(Association, AnInfiniteSideIsNoMissingOne) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Score finite{-2, ScoreStatus::ok};
  const std::vector<double> logprob = {-1, -infinity};
  const auto infinite = fold_subwords(Measure::ilps_chain, {logprob, {}, {}, {}, {}});
  EXPECT_EQ(infinite.status, ScoreStatus::group_infinite);
  EXPECT_EQ(association(infinite, finite).value, -infinity);
  EXPECT_EQ(association(infinite, finite).status, ScoreStatus::group_infinite);
  EXPECT_EQ(association(finite, infinite).value, infinity);
  EXPECT_EQ(association(finite, infinite).status, ScoreStatus::prior_infinite);
  EXPECT_TRUE(std::isnan(association(infinite, infinite).value));
  EXPECT_TRUE(std::isnan(association(infinite, Score{}).value));
}

}  // namespace
}  // namespace stereosweep::stats
