#include "findings/decisions/PlannedRounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "findings/RandomScores.hpp"
#include "findings/decisions/Decisions.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t planted_templates = 24;
constexpr std::size_t planted_rephrasings = 8;
constexpr std::size_t planted_items = 3;
constexpr double of_rephrasings = 0.3;  // standard deviations; templates have 1
constexpr double of_cells = 0.8;

std::vector<sweep::Selection> of(std::size_t subject) {
  return {sweep::Selection{"subject", {"subject" + std::to_string(subject)}}};
}

/// Four pairs of subjects; in the second comparison all are held against the first.
sweep::Comparison comparison_of(std::size_t num_subjects, bool has_common_side) {
  sweep::Comparison comparison;
  for (std::size_t left = 1; left < num_subjects; left += has_common_side ? 1 : 2) {
    comparison.contrasts.push_back({.name = "c" + std::to_string(left),
                                    .left = of(left),
                                    .right = of(has_common_side ? 0 : left - 1),
                                    .against = sweep::Contrast::Against::selected});
  }
  comparison.decide.emplace();
  return comparison;
}

/// Where `is_common`, the first subject's scores do not vary: the rows are independent.
RandomScores planted(double effect, std::size_t num_subjects, bool is_common, std::mt19937_64& random) {
  RandomScores scores({1, num_subjects, planted_templates, planted_rephrasings, 1, planted_items});
  std::normal_distribution<double> normal;
  std::ranges::fill(scores.table.statuses, results::ScoreStatus::ok);
  const double deviation = std::sqrt(1 + of_cells * of_cells / planted_rephrasings);
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    const double size = is_common ? (subject == 0 ? 0 : 1) : std::sqrt(0.5);  // a difference of two has both variances
    const double mean = subject % 2 == 1 || (is_common && subject > 0) ? effect * deviation : 0;
    for (std::size_t item = 0; item < planted_items; ++item) {
      std::vector<double> columns(planted_rephrasings);
      std::ranges::generate(columns, [&] { return of_rephrasings * normal(random); });
      for (std::size_t t = 0; t < planted_templates; ++t) {
        const double row = normal(random);
        for (std::size_t r = 0; r < planted_rephrasings; ++r) {
          scores.at({0, subject, t, r, 0, item}) = mean + size * (row + columns[r] + of_cells * normal(random));
        }
      }
    }
  }
  return scores;
}

/// (subject, template, rephrasing) that some row visited until its stop.
std::size_t asked_of(const Decisions& decisions, std::size_t num_subjects, bool is_common) {
  std::vector<std::vector<bool>> asked(num_subjects, std::vector<bool>(planted_templates * planted_rephrasings, false));
  for (const auto& row : decisions.rows) {
    const auto left = std::stoul(row.contrast.substr(1));
    for (std::size_t cell = 0; cell < row.table.visited.size(); ++cell) {
      if (row.table.visited[cell] <= row.stop) {
        asked[left][cell] = asked[is_common ? 0 : left - 1][cell] = true;
      }
    }
  }
  std::size_t sum = 0;
  for (const auto& cells : asked) {
    sum += static_cast<std::size_t>(std::ranges::count(cells, true));
  }
  return sum;
}

class FindingsPlannedRounds : public ::testing::TestWithParam<bool> {};

/// Planned by a pilot's variances, against 80 runs of other planted tables for each effect.
TEST_P(FindingsPlannedRounds, foretell_the_passes_of_planted_runs) {
  constexpr std::size_t num_subjects = 8;
  constexpr std::size_t num_runs = 80;
  std::mt19937_64 random(36);
  auto comparison = comparison_of(num_subjects, GetParam());
  comparison.decide->plan = plan_of(planted(0.5, num_subjects, GetParam(), random).scores(), comparison);
  const auto pilot = planted(0, num_subjects, GetParam(), random);
  const auto planned = plan_rounds(pilot.table.axes, comparison, 5);
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->by_effect.size(), 4U);
  EXPECT_EQ(planned->family_rows, (GetParam() ? 7 : 4) * planted_items);
  EXPECT_EQ(planned->all_passes, num_subjects * planted_templates * planted_rephrasings);
  for (const auto& expected : planned->by_effect) {
    double asked = 0;
    double row_round = 0;
    double decided = 0;
    for (std::size_t run = 0; run < num_runs; ++run) {
      const auto scores = planted(expected.effect, num_subjects, GetParam(), random);
      const auto table = scores.scores();
      const auto decisions = Deciding(table, comparison, 5).after(std::numeric_limits<std::size_t>::max());
      asked += static_cast<double>(asked_of(decisions, num_subjects, GetParam())) / num_runs;
      for (const auto& row : decisions.rows) {
        const auto share = 1 / static_cast<double>(num_runs * decisions.rows.size());
        row_round += share * static_cast<double>(row.stop + 1);
        decided += row.status <= DecisionStatus::equivalent ? share : 0;
      }
    }
    EXPECT_NEAR(expected.passes, asked, 0.1 * asked) << expected.effect;
    EXPECT_NEAR(expected.row_round, row_round, 0.1 * row_round) << expected.effect;
    EXPECT_NEAR(expected.decided, decided, 0.06) << expected.effect;
    RecordProperty("passes_over_planned_" + std::to_string(expected.effect), std::to_string(asked / expected.passes));
  }
}
INSTANTIATE_TEST_SUITE_P(Sides, FindingsPlannedRounds, ::testing::Bool());

TEST(FindingsPlannedPower, tell_what_no_round_can_decide) {
  std::mt19937_64 random(1);
  auto comparison = comparison_of(2, false);
  comparison.decide->plan = {1, 0, 0};
  const auto scores = planted(0, 2, false, random);
  auto planned = plan_rounds(scores.table.axes, comparison, 1).value();
  // 24 templates of equal rephrasings: Student's t of 24 values at .05 / 3 (three items)
  EXPECT_NEAR(planned.least_effect.value(), 0.705, 0.01);  // scipy.stats.nct
  EXPECT_NEAR(static_cast<double>(planned.enough_templates.value()), 120, 2);
  EXPECT_EQ(planned.family_rows, 3U);
  const auto text = rounds_text(planned, *comparison.decide, 600);
  EXPECT_NE(text.find("minutes"), std::string::npos);
  EXPECT_NE(text.find("12, 24"), std::string::npos);
  comparison.decide->want = {{.width = 1}};
  EXPECT_TRUE(plan_rounds(scores.table.axes, comparison, 1)->by_effect.empty());
  EXPECT_FALSE(plan_rounds({}, comparison, 1));
  EXPECT_EQ(doubts_of_decisions(scores.table.axes, comparison).size(), 0U);
  comparison.contrasts.front().against = sweep::Contrast::Against::rest;
  comparison.contrasts.front().right.clear();
  ASSERT_EQ(doubts_of_decisions(scores.table.axes, comparison).size(), 1U);
  EXPECT_NE(doubts_of_decisions(scores.table.axes, comparison).front().find("fixed reference"), std::string::npos);
}

}  // namespace
}  // namespace stereosweep::findings
