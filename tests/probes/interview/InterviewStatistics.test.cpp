#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string>

#include "findings/FindingNumbers.hpp"
#include "probes/interview/Interview.hpp"

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
  const auto found = consistency_of(small.scores(), small.turns, 0.95);
  const auto number = [&](std::size_t finding, const char* column, std::size_t row) {
    return findings::number_in(found.at(finding), column, row);
  };
  EXPECT_THAT(found[2].axes[1].labels, ElementsAre("warmth", "competence"));
  EXPECT_DOUBLE_EQ(number(2, "over_rounds", 0), 1.0 / 3);  // of 2, 3 and 4
  EXPECT_DOUBLE_EQ(number(2, "over_rounds_largest", 0), 1.0 / 3);
  EXPECT_EQ(number(2, "over_rounds_n", 0), 1);
  EXPECT_EQ(number(2, "over_rounds", 1), 0);
  EXPECT_EQ(number(2, "over_rounds_n", 2), 0);  // one round has a rating
  EXPECT_TRUE(std::isnan(number(2, "over_rounds", 3)) && std::isnan(number(2, "over_rounds_largest", 3)));
  EXPECT_EQ(number(2, "to_first_form_n", 0), 0);
  EXPECT_DOUBLE_EQ(number(2, "to_first_form", 2), std::sqrt(2.0) / 2);  // of 3 and 1
  EXPECT_EQ(number(2, "to_first_form_n", 3), 0);
  EXPECT_EQ(number(0, "rated_texts", 0), 9);  // of the subject
  EXPECT_EQ(number(1, "rated_texts", 0), 6);  // of the forms
  EXPECT_EQ(number(1, "unrated_share", 0), 0);
  EXPECT_EQ(number(1, "unrated_low", 0), 0);
  EXPECT_NEAR(number(1, "unrated_high", 0), 1 - std::pow(0.025, 1.0 / 6),
              1e-12);  // Clopper and Pearson without successes
  EXPECT_EQ(number(1, "rated_texts", 1), 3);
  EXPECT_DOUBLE_EQ(number(1, "refused_share", 1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(number(1, "unrated_share", 1), 2.0 / 3);
  const auto greedy = consistency_of(small.scores(), small.turns, std::nullopt);
  EXPECT_DOUBLE_EQ(findings::number_in(greedy[1], "unrated_share", 1), 2.0 / 3);
  EXPECT_TRUE(std::isnan(findings::number_in(greedy[1], "unrated_high", 1))) << "no draws";
}

}  // namespace
}  // namespace stereosweep::probes::interview
