#include "findings/power/Power.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "findings/RandomScores.hpp"
#include "stats/Power.hpp"

namespace stereosweep::findings {
namespace {

using stats::nan;
using ::testing::HasSubstr;

sweep::Comparison first_against_second() {
  sweep::Comparison comparison;
  comparison.contrasts = {{.name = "x", .left = {{"subject", {"subject0"}}}, .right = {{"subject", {"subject1"}}}}};
  return comparison;
}

/// Two subjects, random scores without gaps.
RandomScores pilot_of(std::size_t num_templates, std::size_t num_rephrasings) {
  RandomScores pilot({1, 2, num_templates, num_rephrasings, 1, 1});
  pilot.fill(7, 0);
  return pilot;
}

struct PlainVariances {
  double template_means = 0;  ///< n - 1
  double cells = 0;           ///< residual mean square of templates x rephrasings
};

PlainVariances plain_variances(RandomScores& pilot) {
  const auto num_templates = pilot.table.length(template_axis);
  const auto num_rephrasings = pilot.table.length(rephrasing_axis);
  const auto difference = [&](std::size_t t, std::size_t r) {
    return pilot.at({0, 0, t, r, 0, 0}) - pilot.at({0, 1, t, r, 0, 0});
  };
  std::vector<double> rows(num_templates, 0);
  std::vector<double> columns(num_rephrasings, 0);
  double mean = 0;
  for (std::size_t t = 0; t < num_templates; ++t) {
    for (std::size_t r = 0; r < num_rephrasings; ++r) {
      rows[t] += difference(t, r) / static_cast<double>(num_rephrasings);
      columns[r] += difference(t, r) / static_cast<double>(num_templates);
      mean += difference(t, r) / static_cast<double>(num_templates * num_rephrasings);
    }
  }
  PlainVariances plain;
  for (std::size_t t = 0; t < num_templates; ++t) {
    plain.template_means += std::pow(rows[t] - mean, 2) / static_cast<double>(num_templates - 1);
    for (std::size_t r = 0; r < num_rephrasings; ++r) {
      plain.cells += std::pow(difference(t, r) - rows[t] - columns[r] + mean, 2) /
                     static_cast<double>((num_templates - 1) * std::max<std::size_t>(1, num_rephrasings - 1));
    }
  }
  return plain;
}

TEST(Power, TakesThePilotsVariancesApart) {
  auto pilot = pilot_of(9, 4);
  for (std::size_t t = 0; t < 9; ++t) {  // templates differ by more than their cells
    for (std::size_t r = 0; r < 4; ++r) {
      pilot.at({0, 0, t, r, 0, 0}) += static_cast<double>(t * t);
    }
  }
  const auto rows = spreads_of(pilot.scores(), first_against_second());
  ASSERT_EQ(rows.size(), 1U);
  const auto& row = rows.front();
  const auto plain = plain_variances(pilot);
  EXPECT_EQ(reason_of(row), stats::Reason::ok);
  EXPECT_EQ(row.squares.num_rows, 9U);
  EXPECT_EQ(row.squares.num_columns, 4U);
  EXPECT_NEAR(row.squares.variances().rest, plain.cells, 1e-11 * plain.cells);
  EXPECT_EQ(row.squares.error().degrees, compare(pilot.scores(), first_against_second(), 1).front().degrees);
  EXPECT_NEAR(std::pow(deviation_of(row, 4), 2), plain.template_means, 1e-11 * plain.template_means);
  EXPECT_NEAR(std::pow(deviation_of(row, 1), 2), plain.template_means + 0.75 * plain.cells,
              1e-11 * plain.template_means);
  // the effect that the contrast itself has is the observed difference over the same deviation
  const auto contrast = compare(pilot.scores(), first_against_second(), 1).front();
  const PowerGoal goal{.size = std::abs(contrast.difference), .unit = PowerGoal::Unit::score};
  EXPECT_NEAR(difference_of(row, goal) / deviation_of(row, 4), std::abs(contrast.effect), 1e-11);
  EXPECT_LT(enough_templates(row, goal, 20), enough_templates(row, goal, 1));
  EXPECT_LT(enough_templates(row, goal, 4), enough_templates(row, goal, 4, PilotVariance::cautious));
}

TEST(Power, AnEffectHoldsWithThePilotsRephrasings) {
  const auto pilot = pilot_of(12, 3);
  const auto rows = spreads_of(pilot.scores(), first_against_second());
  const PowerGoal goal{.size = 0.5};
  EXPECT_DOUBLE_EQ(difference_of(rows[0], goal), 0.5 * deviation_of(rows[0], 3));
  EXPECT_LE(deviation_of(rows[0], 20), deviation_of(rows[0], 3));
  const auto enough = enough_templates(rows[0], goal, 3);
  ASSERT_TRUE(enough);
  EXPECT_GE(stats::crossed_power(planned_mean(rows[0], goal, 3), *enough), 0.8);
  const double factor = stats::upper_variance_factor(rows[0].squares.error().degrees, 0.8);
  EXPECT_NEAR(planned_mean(rows[0], goal, 3, PilotVariance::cautious).variances.rest,
              factor * rows[0].squares.variances().rest, 1e-12);
  const auto text = power_text(rows, goal, 5);
  EXPECT_THAT(text, ::testing::StartsWith(std::to_string(*enough) + " templates (or pairs) with 3 rephrasings"));
  EXPECT_THAT(text, HasSubstr("12 x 3"));
}

TEST(Power, OneRephrasingSaysNothingOfMore) {
  auto pilot = pilot_of(10, 1);
  const auto rows = spreads_of(pilot.scores(), first_against_second());
  EXPECT_NEAR(std::pow(deviation_of(rows[0], 1), 2), plain_variances(pilot).template_means,
              1e-11 * plain_variances(pilot).template_means);
  EXPECT_EQ(deviation_of(rows[0], 1), deviation_of(rows[0], 20));
  const auto text = power_text(rows, {.size = 0.5}, 5);
  EXPECT_THAT(text, HasSubstr("what more would save is not known"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("x 20")));
}

TEST(Power, WithoutAVarianceItSaysWhy) {
  auto pilot = pilot_of(5, 2);
  const auto scores = pilot.scores();
  const auto reason = [&] { return reason_of(spreads_of(scores, first_against_second()).front()); };
  for (std::size_t t = 1; t < 5; ++t) {
    pilot.at({0, 0, t, 0, 0, 0}) = pilot.at({0, 0, t, 1, 0, 0}) = nan;
  }
  EXPECT_EQ(reason(), stats::Reason::too_few);
  EXPECT_THAT(power_text(spreads_of(scores, first_against_second()), {.size = 0.5}, 5),
              ::testing::StartsWith("Nothing can be planned"));
  pilot.at({0, 0, 0, 0, 0, 0}) = pilot.at({0, 0, 0, 1, 0, 0}) = nan;
  EXPECT_EQ(reason(), stats::Reason::no_values);
  for (auto& value : pilot.table.values) {
    value = 0.1;
  }
  EXPECT_EQ(reason(), stats::Reason::constant);
}

TEST(Power, WithoutAPilotItSaysWhatIsNotKnown) {
  const auto text = power_text({.size = 0.5, .chance = 0.9});
  EXPECT_THAT(text, ::testing::StartsWith("44 templates"));
  EXPECT_THAT(text, HasSubstr("Only a pilot"));
  EXPECT_THAT(power_text({.size = 0.001}), ::testing::StartsWith("more than 100,000 templates"));
}

}  // namespace
}  // namespace stereosweep::findings
