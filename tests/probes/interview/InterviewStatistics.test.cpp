#include "probes/interview/statistics/InterviewStatistics.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string>

#include "probes/interview/InterviewScores.hpp"

namespace stereosweep::probes::interview {
namespace {

using ::testing::ElementsAre;

TEST(InterviewStatistics, words_are_numbered_as_they_come) {
  WordNumbering number;
  EXPECT_THAT(number("Kind, kind\n**KIND**"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(number("don't be kind 1,000."), ElementsAre(2, 3, 0, 4, 5));
  EXPECT_THAT(number("<think>kind</think> Z\xC3\xBCrich"), ElementsAre(6));
  EXPECT_TRUE(number(" \n\t").empty());
}

TEST(InterviewStatistics, without_ratings_no_turn_rates) { EXPECT_TRUE(rating_turns({}).empty()); }

TEST(InterviewStatistics, shares_have_intervals_where_texts_are_drawn) {
  const auto sampled = text_share(0, 10, 0.95);
  EXPECT_EQ(sampled.share, 0);
  EXPECT_EQ(sampled.low, 0);
  EXPECT_NEAR(sampled.high, 1 - std::pow(0.025, 0.1), 1e-12);  // Clopper and Pearson without successes
  const auto greedy = text_share(3, 4, std::nullopt);
  EXPECT_EQ(greedy.share, 0.75);
  EXPECT_TRUE(std::isnan(greedy.low) && std::isnan(greedy.high));
  EXPECT_TRUE(std::isnan(text_share(0, 0, 0.95).share));
}

/// One subject, two forms, three rounds; a turn that rates two items of warmth and one of competence, another that
/// rates one of competence.
struct SmallTable {
  results::ScoreTable table;
  std::vector<std::string> turns = {"a\nfirst", "a\nfirst", "a\nfirst", "b\nsecond"};

  SmallTable() {
    const std::array<std::size_t, 6> lengths = {4, 1, 2, 1, 3, 4};
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      table.axes[axis].name = results::score_axis_names[axis];
      for (std::size_t label = 0; label < lengths[axis]; ++label) {
        table.axes[axis].labels.push_back(std::to_string(label));
      }
    }
    table.axes[5].coordinates = {{"dimension", "", {"warmth", "warmth", "competence", "competence"}}};
    table.resize();
  }

  findings::Scores scores() const {
    findings::Scores scores;
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
      scores.axes[axis] = &table.axes[axis];
    }
    scores.read = [this](std::size_t measure) {
      const auto length = static_cast<std::ptrdiff_t>(table.values.size() / table.length(0));
      const auto first = table.values.begin() + static_cast<std::ptrdiff_t>(measure) * length;
      return std::vector<double>(first, first + length);
    };
    return scores;
  }

  double& at(Measure measure, std::size_t form, std::size_t round, std::size_t item) {
    return table.values[table.index({static_cast<std::size_t>(measure), 0, form, 0, round, item})];
  }

  void put(std::size_t form, std::size_t round, std::size_t item, double rating) {
    at(Measure::rating, form, round, item) = rating;
    at(Measure::usable, form, round, item) = 1;
    at(Measure::refused, form, round, item) = 0;
  }

  enum class Without : std::uint8_t { refusal, other };
  void leave_out(std::size_t form, std::size_t round, std::size_t item, Without why) {
    at(Measure::usable, form, round, item) = 0;
    at(Measure::refused, form, round, item) = why == Without::refusal ? 1 : 0;
  }
};

TEST(InterviewStatistics, consistency_is_of_means_and_counts_texts) {
  using Without = SmallTable::Without;
  SmallTable small;
  for (std::size_t round = 0; round < 3; ++round) {  // first form: warmth 2, 3, 4, competence 5
    small.put(0, round, 0, 1 + static_cast<double>(round));
    small.put(0, round, 1, 3 + static_cast<double>(round));
    small.put(0, round, 2, 5);
    small.put(0, round, 3, 5);
  }
  // second form: a text that rates one of three items; one that declines two and leaves one out; one that never came
  small.put(1, 0, 0, 1);
  small.leave_out(1, 0, 1, Without::refusal);
  small.leave_out(1, 0, 2, Without::other);
  small.leave_out(1, 1, 0, Without::refusal);
  small.leave_out(1, 1, 1, Without::refusal);
  small.leave_out(1, 1, 2, Without::other);
  small.leave_out(1, 0, 3, Without::other);
  const auto found = consistency_of(small.scores(), small.turns);
  EXPECT_THAT(found.dimensions, ElementsAre("warmth", "competence"));
  EXPECT_DOUBLE_EQ(found.over_rounds[0].mean, 1.0 / 3);  // of 2, 3 and 4
  EXPECT_DOUBLE_EQ(found.over_rounds[0].largest, 1.0 / 3);
  EXPECT_EQ(found.over_rounds[0].n, 1);
  EXPECT_EQ(found.over_rounds[1].mean, 0);
  EXPECT_EQ(found.over_rounds[2].n, 0);  // one round has a rating
  EXPECT_TRUE(std::isnan(found.over_rounds[3].mean) && std::isnan(found.over_rounds[3].largest));
  EXPECT_EQ(found.to_first_form[0].n, 0);
  EXPECT_DOUBLE_EQ(found.to_first_form[2].mean, std::sqrt(2.0) / 2);  // of 3 and 1
  EXPECT_EQ(found.to_first_form[3].n, 0);
  const auto& first = found.of_forms.at(0);
  const auto& second = found.of_forms.at(1);
  EXPECT_EQ(first.texts, 6U);
  EXPECT_EQ(first.unrated, 0U);
  EXPECT_EQ(second.texts, 3U);
  EXPECT_EQ(second.refused, 1U);
  EXPECT_EQ(second.unrated, 2U);
  EXPECT_EQ(found.of_subjects.at(0).texts, 9U);
}

}  // namespace
}  // namespace stereosweep::probes::interview
