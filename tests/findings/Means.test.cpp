#include "findings/Means.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/FindingNumbers.hpp"
#include "findings/RandomScores.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "hdf5/File.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

sweep::Comparison asked(std::vector<std::string> measures = {}) {
  sweep::Comparison comparison;
  comparison.means = sweep::MeansRequest{std::move(measures)};
  comparison.confidence = 0.9;
  return comparison;
}

/// What a finding says of one mean.
struct MeanNumbers {
  double mean;
  double low;
  double high;
  double num_cells;
  stats::Reason reason;
  double deviation;
  stats::MeanTest test;
  double p_holm;
  double rank;
};

std::vector<MeanNumbers> rows_of(const Finding& finding) {
  std::vector<MeanNumbers> rows;
  for (std::size_t row = 0; row < finding.num_rows(); ++row) {
    const auto at = [&](const char* column) { return number_in(finding, column, row); };
    rows.push_back({at(""),
                    at("low"),
                    at("high"),
                    at("n"),
                    reason_in(finding, "status", row),
                    at("deviation"),
                    {.p = at("p"), .low = at("deviation_low"), .high = at("deviation_high")},
                    at("p_holm"),
                    at("rank")});
  }
  return rows;
}

/// The cells [template][rephrasing] of one mean, replicates averaged; NaN: none.
std::vector<std::vector<double>> plain_cells(RandomScores& random, std::size_t measure, std::size_t subject,
                                             std::size_t item) {
  const auto& table = random.table;
  std::vector<std::vector<double>> cells(table.length(2), std::vector<double>(table.length(3), stats::nan));
  for (std::size_t t = 0; t < table.length(2); ++t) {
    for (std::size_t r = 0; r < table.length(3); ++r) {
      std::vector<double> values;
      for (std::size_t replicate = 0; replicate < table.length(4); ++replicate) {
        const double value = random.at({measure, subject, t, r, replicate, item});
        if (!std::isnan(value)) {
          values.push_back(value);
        }
      }
      cells[t][r] = stats::mean(values).value;
    }
  }
  return cells;
}

void expect_same(double ours, double plain) {
  EXPECT_EQ(std::isnan(ours), std::isnan(plain));
  if (!std::isnan(plain)) {
    EXPECT_NEAR(ours, plain, 1e-9);
  }
}

void expect_row(const MeanNumbers& row, const std::vector<std::vector<double>>& cells) {
  std::vector<double> table;
  std::vector<double> present;
  for (const auto& line : cells) {
    for (const double cell : line) {
      table.push_back(cell);
      if (!std::isnan(cell)) {
        present.push_back(cell);
      }
    }
  }
  EXPECT_EQ(row.num_cells, std::ssize(present));
  expect_same(row.mean, stats::mean(present).value);
  const auto has_cell = [](const auto& line) {
    return std::ranges::any_of(line, [](double cell) { return !std::isnan(cell); });
  };
  if (std::ranges::count_if(cells, has_cell) < 2) {  // templates
    EXPECT_EQ(row.reason, present.empty() ? stats::Reason::no_values : stats::Reason::too_few);
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high) && std::isnan(row.test.p));
    return;
  }
  const auto [least, most] = std::ranges::minmax(present);
  if (least == most) {
    EXPECT_EQ(row.reason, stats::Reason::constant);
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high));
    return;
  }
  if (most - least < 1e-10) {
    return;  // different by rounding
  }
  const auto error = stats::crossed_squares(table, cells[0].size()).error();
  const double half = stats::student_quantile(0.95, error.degrees) * std::sqrt(error.variance);
  expect_same(row.low, row.mean - half);
  expect_same(row.high, row.mean + half);
  EXPECT_EQ(row.reason, stats::Reason::ok);
}

TEST(Means, AreTheirDefinitionsOfRandomTables) {
  int intervals = 0;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    SCOPED_TRACE(seed);
    auto random = RandomScores::of(seed);
    const auto means = rows_of(means_of(random.scores(), asked()));
    const auto row = [&](std::size_t measure, std::size_t subject, std::size_t item) {
      return means.at((measure * random.table.length(1) + subject) * random.table.length(5) + item);
    };
    for (std::size_t measure = 0; measure < random.table.length(0); ++measure) {
      for (std::size_t subject = 0; subject < random.table.length(1); ++subject) {
        for (std::size_t item = 0; item < random.table.length(5); ++item) {
          expect_row(row(measure, subject, item), plain_cells(random, measure, subject, item));
          intervals += row(measure, subject, item).reason == stats::Reason::ok ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(intervals, 300);
}

TEST(Means, HaveTheIntervalOfAContrastWithZero) {
  int intervals = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    auto random = RandomScores::of(seed);
    const bool has_ends = seed % 2 == 1;
    if (has_ends) {
      const auto num_measures = random.table.length(0);
      random.table.axes[measure_axis].coordinates = {{"lowest", "", std::vector<std::string>(num_measures, "-4")},
                                                     {"highest", "", std::vector<std::string>(num_measures, "17")}};
    }
    auto comparison = asked();
    comparison.replicates = 10;
    comparison.draws = 10;
    comparison.contrasts = {{.name = "one", .against = sweep::Contrast::Against::zero, .each = "subject"}};
    const auto rows = compare(random.scores(), comparison, 1);
    const auto means = rows_of(means_of(random.scores(), comparison));
    ASSERT_EQ(rows.size(), means.size());
    for (std::size_t place = 0; place < rows.size(); ++place) {
      expect_same(means[place].mean, rows[place].difference);
      EXPECT_FALSE(has_ends && (rows[place].low < -4 || rows[place].high > 17));
      if (has_ends && !std::isnan(rows[place].low) && rows[place].low != 0 && rows[place].high != 0) {
        EXPECT_EQ(rows[place].p<1 - comparison.confidence, rows[place].low> 0 || rows[place].high < 0) << place;
      }
      if (!std::isnan(rows[place].low) && rows[place].high - rows[place].low > 1e-9) {
        expect_same(means[place].low, rows[place].low);
        expect_same(means[place].high, rows[place].high);
        ++intervals;
      }
    }
  }
  EXPECT_GT(intervals, 200);
}

TEST(Means, ManySubjectsAndItemsAreDealtInParts) {
  RandomScores random({1, 30, 3, 2, 2, 11});  // more than are computed together
  random.fill(2, 0.05);
  const auto means = rows_of(means_of(random.scores(), asked()));
  for (std::size_t subject = 0; subject < 30; ++subject) {
    for (std::size_t item = 0; item < 11; ++item) {
      expect_row(means.at(subject * 11 + item), plain_cells(random, 0, subject, item));
    }
  }
}

TEST(Means, CoverageIsOfTheCellsThatAreApplicable) {
  RandomScores random({1, 1, 4, 1, 2, 1});
  random.fill(3, 0);
  for (const std::size_t replicate : {0U, 1U}) {
    for (const std::size_t sentence : {0U, 1U}) {
      random.at({0, 0, sentence, 0, replicate, 0}) = stats::nan;
    }
    random.table.statuses[random.table.index({0, 0, 0, 0, replicate, 0})] = results::ScoreStatus::not_applicable;
    random.table.statuses[random.table.index({0, 0, 1, 0, replicate, 0})] = results::ScoreStatus::undefined;
  }
  random.at({0, 0, 2, 0, 1, 0}) = stats::nan;  // the other replicate stays
  const auto means = means_of(random.scores(), asked());
  EXPECT_EQ(number_in(means, "n", 0), 2);
  EXPECT_DOUBLE_EQ(number_in(means, "coverage", 0), 2.0 / 3);
}

TEST(Means, OfOneTemplateAndOneRephrasingHaveNoInterval) {
  RandomScores random({1, 2, 1, 1, 5, 1});
  random.fill(2, 0);
  for (const auto& row : rows_of(means_of(random.scores(), asked()))) {
    EXPECT_EQ(row.num_cells, 1);
    EXPECT_FALSE(std::isnan(row.mean));
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high));
    EXPECT_EQ(row.reason, stats::Reason::too_few);
  }
}

TEST(Means, MeasuresAreChosenByTheirLabels) {
  RandomScores random({3, 1, 2, 1, 1, 1});
  random.fill(2, 0);
  const auto means = means_of(random.scores(), asked({"measure2", "measure0"}));
  EXPECT_EQ(means.axes.front().name, "mean_measure");
  EXPECT_THAT(means.axes.front().labels, ElementsAre("measure0", "measure2"));
  EXPECT_EQ(means.num_rows(), 2U);
  try {
    means_of(random.scores(), asked({"measure9", "weight"}));
    FAIL();
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("statistics.means: no measure 'measure9'"));
    EXPECT_THAT(error.what(), HasSubstr("Did you mean 'measure"));
    EXPECT_THAT(error.what(), HasSubstr("no measure 'weight'"));
  }
}

TEST(Means, TheBestEvidenceComesFirstInANarrowText) {
  RandomScores random({1, 3, 8, 1, 1, 1});
  for (std::size_t subject = 0; subject < 3; ++subject) {
    random.table.axes[1].labels[subject] += std::string(90, 'x');
    for (std::size_t sentence = 0; sentence < 8; ++sentence) {
      const double noise = base::random_unit(3, subject, sentence);
      random.at({0, subject, sentence, 0, 0, 0}) = subject == 1 ? -70.5 + noise : subject == 2 ? 300 * noise : noise;
    }
  }
  const auto means = means_of(random.scores(), asked());
  EXPECT_LT(number_in(means, "p_holm", 1), 0.05);
  EXPECT_THAT(column_values(means, "rank"), UnorderedElementsAre(1, 2, 3));
  const auto text = told_by(means, 2).text();
  EXPECT_LT(text.find("-70"), text.find("150"));
  EXPECT_THAT(text, HasSubstr("(2 of 3 rows; --top 3 shows all)"));
  EXPECT_THAT(text, HasSubstr("Chosen"));
  EXPECT_THAT(text, Not(HasSubstr("so few templates")));
  for (const auto& line : base::split(text, '\n')) {
    EXPECT_LE(std::ranges::count_if(line, [](char letter) { return (letter & 0xC0) != 0x80; }), 100) << line;
  }
}

TEST(Means, OfARateLieInsideItAndAreNoPoint) {
  RandomScores random({1, 2, 10, 1, 1, 1});
  random.table.axes[measure_axis].coordinates = {{"lowest", "", {"0"}}, {"highest", "", {"1"}}};
  for (std::size_t sentence = 0; sentence < 10; ++sentence) {
    random.at({0, 0, sentence, 0, 0, 0}) = 1;
    random.at({0, 1, sentence, 0, 0, 0}) = sentence == 0 ? 0 : 1;
  }
  const auto rows = rows_of(means_of(random.scores(), asked()));
  EXPECT_NEAR(rows[0].low, std::pow(0.05, 0.1), 1e-9);
  EXPECT_EQ(rows[0].high, 1);
  EXPECT_EQ(rows[0].reason, stats::Reason::constant);
  const auto nine_of_ten = stats::fixed_draws_interval(9, 10, 0.9);
  EXPECT_NEAR(rows[1].low, nine_of_ten.low, 1e-9);
  EXPECT_NEAR(rows[1].high, nine_of_ten.high, 1e-9);
  auto comparison = asked();
  const std::vector<sweep::Selection> first = {{"subject", {"subject0"}}};
  const std::vector<sweep::Selection> second = {{"subject", {"subject1"}}};
  comparison.contrasts = {
      {.name = "one", .left = second, .against = sweep::Contrast::Against::zero},
      {.name = "two", .left = first, .right = second, .against = sweep::Contrast::Against::selected}};
  const auto contrasts = compare(random.scores(), comparison, 1);
  EXPECT_NEAR(contrasts[0].low, nine_of_ten.low, 1e-9);
  EXPECT_NEAR(contrasts[0].high, nine_of_ten.high, 1e-9);
  EXPECT_TRUE(std::isnan(contrasts[0].p) && std::isnan(contrasts[0].flip.two_sided));  // no rate is below 0
  EXPECT_NEAR(contrasts[1].p, 0.3434, 1e-4);                                           // Student's t of 9 zeros and a 1
}

TEST(Means, OfTwoRatingsHaveNoInterval) {
  RandomScores random({1, 1, 2, 1, 1, 1});
  random.table.axes[measure_axis].coordinates = {{"lowest", "", {"1"}}, {"highest", "", {"5"}}};
  random.at({0, 0, 0, 0, 0, 0}) = 1;
  random.at({0, 0, 1, 0, 0, 0}) = 2;
  const auto means = means_of(random.scores(), asked());
  EXPECT_TRUE(std::isnan(number_in(means, "low", 0)));
  EXPECT_EQ(reason_in(means, "status", 0), stats::Reason::too_few);
  EXPECT_THAT(told_by(means, 2).text(), HasSubstr("templates (2) intervals and p say little"));
}

/// Normal scores; every subject and item alike, but for what templates, which some subjects lack, add to all.
RandomScores alike(std::uint64_t seed, double missing) {
  RandomScores random({1, 6, 12, 4, 1, 4});
  std::mt19937_64 numbers(seed);
  std::normal_distribution<double> normal;
  std::vector<double> templates(12);
  std::ranges::generate(templates, [&] { return 2 * normal(numbers); });
  for (std::size_t s = 0; s < 6; ++s) {
    for (std::size_t t = 0; t < 12; ++t) {
      for (std::size_t r = 0; r < 4; ++r) {
        for (std::size_t i = 0; i < 4; ++i) {
          random.at({0, s, t, r, 0, i}) = templates[t] + normal(numbers);
          if (s == 0 && base::random_unit(seed, 8, t) < missing) {
            random.at({0, s, t, r, 0, i}) = stats::nan;
          }
        }
      }
    }
  }
  return random;
}

TEST(Means, OfNoiseSeldomDifferFromTheMeanOfAll) {
  for (const double missing : {0.0, 0.5}) {  // half the templates of one subject: its plain mean would differ
    int any = 0;
    int rows = 0;
    int small = 0;
    constexpr int sets = 200;
    for (std::uint64_t set = 0; set < sets; ++set) {
      const auto means = rows_of(means_of(alike(set, missing).scores(), asked()));
      bool has_any = false;
      for (const auto& row : means) {
        has_any = has_any || row.p_holm <= 0.05;
        small += row.test.p <= 0.05 ? 1 : 0;
        ++rows;
        ASSERT_EQ(std::isnan(row.test.p), std::isnan(row.test.low));
        ASSERT_EQ(row.test.p<1 - asked().confidence, row.test.low> 0 || row.test.high < 0);
        ASSERT_FALSE(row.deviation < row.test.low || row.deviation > row.test.high);
      }
      any += has_any ? 1 : 0;
    }
    EXPECT_LT(any, 0.11 * sets) << missing;  // 5 % and four standard errors
    EXPECT_GT(small, 0.015 * rows) << missing;
    EXPECT_LT(small, 0.07 * rows) << missing;
  }
}

/// The second half of the subjects lacks two thirds of the templates, which add much.
RandomScores unbalanced(std::uint64_t seed) {
  RandomScores random({1, 4, 12, 4, 1, 1});
  std::mt19937_64 numbers(seed);
  std::normal_distribution<double> normal;
  std::vector<double> templates(12);
  std::ranges::generate(templates, [&] { return 3 * normal(numbers); });
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t t = 0; t < 12; ++t) {
      const double own = normal(numbers);
      for (std::size_t r = 0; r < 4; ++r) {
        random.at({0, s, t, r, 0, 0}) = s < 2 || t < 4 ? templates[t] + own + normal(numbers) : stats::nan;
      }
    }
  }
  return random;
}

TEST(Means, OfSubjectsThatLackMostTemplatesAreComparedOnThoseThatAreShared) {
  int rows = 0;
  int small = 0;
  int any = 0;
  constexpr int sets = 400;
  for (std::uint64_t set = 0; set < sets; ++set) {
    const auto found = rows_of(means_of(unbalanced(set).scores(), asked()));
    rows += static_cast<int>(found.size());
    small += static_cast<int>(std::ranges::count_if(found, [](const auto& row) { return row.test.p <= 0.05; }));
    any += std::ranges::any_of(found, [](const auto& row) { return row.p_holm <= 0.05; }) ? 1 : 0;
  }
  EXPECT_LT(small, 0.065 * rows);
  EXPECT_LT(any, 0.075 * sets);
}

TEST(Means, AreNotComparedWithThoseThatShareNoSentence) {
  RandomScores random({1, 4, 8, 1, 1, 1});
  random.fill(5, 0);
  for (std::size_t t = 0; t < 8; ++t) {  // two subjects on the first templates, one each on others
    for (std::size_t s = 0; s < 4; ++s) {
      const bool has_score = s < 2 ? t < 4 : s == 2 ? t == 4 || t == 5 : t > 5;
      random.at({0, s, t, 0, 0, 0}) = has_score ? random.at({0, s, t, 0, 0, 0}) + (s < 2 ? 0 : 100) : stats::nan;
    }
  }
  const auto rows = rows_of(means_of(random.scores(), asked()));
  EXPECT_NEAR(rows[0].deviation, (rows[0].mean - rows[1].mean) / 2, 1e-12);
  EXPECT_FALSE(std::isnan(rows[0].test.p));
  EXPECT_NEAR(rows[0].test.p, rows[1].test.p, 1e-12);
  EXPECT_TRUE(std::isnan(rows[2].deviation) && std::isnan(rows[2].test.p) && std::isnan(rows[3].deviation));
}

TEST(Means, AnswerWithTheDifferenceThatTheirPIsOf) {
  auto random = alike(7, 0.0);
  random.table.axes[item_axis].coordinates = {{"left", "", std::vector<std::string>(random.table.length(5), "cold")},
                                              {"right", "", std::vector<std::string>(random.table.length(5), "warm")}};
  const auto comparison = asked();
  auto finding = means_of(random.scores(), comparison);
  answer(finding, finding.axes[0], comparison.confidence);
  ASSERT_FALSE(finding.answers.empty());
  const auto rows = rows_of(finding);
  const auto best = std::ranges::min_element(rows, {}, &MeanNumbers::rank);
  EXPECT_THAT(
      finding.answers[0].text,
      HasSubstr(std::string(" lean further to ") + (best->deviation > 0 ? "warm" : "cold") +
                " than the mean of all subjects and items: difference " + results::significant(best->deviation)));
  EXPECT_THAT(finding.answers[0].text,
              HasSubstr(", " + results::significant(best->test.low) + " .. " + results::significant(best->test.high) +
                        ", p " + results::p_value(best->test.p)));
  EXPECT_THAT(finding.answers[0].text,
              HasSubstr(" (" + base::counted(static_cast<std::uint64_t>(best->num_cells), "cell") + ")."));
}

TEST(Evidence, IsOrderedByPAndTiesByEffect) {
  const std::vector<double> p = {0.04, stats::nan, 0.01, 0.04, stats::nan, 0.5};
  const std::vector<double> effects = {1, 9, 2, -3, -10, 7};
  EXPECT_THAT(evidence_ranks(p, effects), ElementsAre(3, 6, 1, 2, 5, 4));
  const auto adjusted = stats::adjusted_p(p, stats::Adjustment::holm);
  EXPECT_NEAR(adjusted[2], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.12, 1e-12);
  EXPECT_NEAR(adjusted[5], 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(adjusted[1]));
}

TEST(Means, AFileHoldsTheChosenMeasures) {
  RandomScores random({3, 2, 3, 2, 1, 2});
  random.fill(8, 0);
  const stereosweep::testing::TemporaryDirectory folder;
  auto file = hdf5::File::create(folder / "means.h5");
  results::Layout layout(file.root());
  for (const auto& axis : random.table.axes) {
    layout.add_axis(axis);
  }
  write(layout, means_of(random.scores(), asked({"measure1"})));
  EXPECT_EQ(layout.axis("mean_measure").labels, std::vector<std::string>{"measure1"});
  for (const auto* name : {"mean_score", "mean_score_low", "mean_score_high", "mean_score_coverage"}) {
    std::vector<double> values(4);
    const auto dataset = file.root().open_dataset(name);
    EXPECT_EQ(dataset.shape(), (hdf5::Shape{1, 2, 2}));
    dataset.read(0, std::span<double>(values));
    EXPECT_TRUE(stats::all_finite(values)) << name;
  }
  std::vector<std::int32_t> counts(4);
  const auto dataset = file.root().open_dataset("mean_score_n");
  dataset.read(0, std::span<std::int32_t>(counts));
  EXPECT_THAT(counts, ElementsAre(6, 6, 6, 6));
  EXPECT_TRUE(file.root().contains("mean_score_status"));
}

}  // namespace
}  // namespace stereosweep::findings
