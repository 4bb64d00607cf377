#include "findings/Means.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/PlainInterval.hpp"
#include "findings/RandomScores.hpp"
#include "hdf5/File.hpp"
#include "stats/PValues.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t drawn_from = 77;

sweep::Comparison asked(std::vector<std::string> measures = {}) {
  sweep::Comparison comparison;
  comparison.means = std::move(measures);
  comparison.replicates = 100;
  comparison.confidence = 0.9;
  return comparison;
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

double plain_mean(const std::vector<std::vector<double>>& cells, const std::vector<std::size_t>& templates,
                  const std::vector<std::size_t>& rephrasings) {
  double sum = 0;
  int count = 0;
  for (const auto t : templates) {
    for (const auto r : rephrasings) {
      if (!std::isnan(cells[t][r])) {
        sum += cells[t][r];
        ++count;
      }
    }
  }
  return sum / count;  // 0 / 0 is NaN
}

std::vector<std::size_t> all_below(std::size_t length, std::size_t but = 1000) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < length; ++place) {
    if (place != but) {
      places.push_back(place);
    }
  }
  return places;
}

double plain_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double above = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (above - values[below]) * (position - std::floor(position));
}

std::vector<double> plain_replicates(const std::vector<std::vector<double>>& cells) {
  std::vector<double> replicates;
  for (std::uint64_t replicate = 0; replicate < 100; ++replicate) {
    std::vector<std::size_t> templates;
    std::vector<std::size_t> rephrasings;
    for (std::size_t draw = 0; draw < cells.size(); ++draw) {
      templates.push_back(base::random_below(cells.size(), drawn_from, templates_stream ^ replicate, draw));
    }
    for (std::size_t draw = 0; draw < cells[0].size(); ++draw) {
      rephrasings.push_back(base::random_below(cells[0].size(), drawn_from, rephrasings_stream ^ replicate, draw));
    }
    const double mean = plain_mean(cells, templates, rephrasings);
    if (!std::isnan(mean)) {
      replicates.push_back(mean);
    }
  }
  return replicates;
}

void expect_same(double ours, double plain) {
  EXPECT_EQ(std::isnan(ours), std::isnan(plain));
  if (!std::isnan(plain)) {
    EXPECT_NEAR(ours, plain, 1e-9);
  }
}

void expect_row(const MeanRow& row, const std::vector<std::vector<double>>& cells) {
  std::set<double> different;
  int count = 0;
  for (const auto& line : cells) {
    for (const double cell : line) {
      if (!std::isnan(cell)) {
        different.insert(cell);
        ++count;
      }
    }
  }
  EXPECT_EQ(row.num_cells, count);
  expect_same(row.mean, plain_mean(cells, all_below(cells.size()), all_below(cells[0].size())));
  if (count < 2) {
    EXPECT_EQ(row.reason, count == 0 ? stats::Reason::no_values : stats::Reason::too_few);
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high));
    return;
  }
  if (different.size() == 1) {
    EXPECT_EQ(row.reason, stats::Reason::constant);
    EXPECT_THAT((std::vector{row.mean, row.low, row.high}), ::testing::Each(*different.begin()));
    return;
  }
  if (*different.rbegin() - *different.begin() < 1e-10) {
    return;  // different by rounding
  }
  const auto replicates = plain_replicates(cells);
  if (replicates.size() < 90) {
    EXPECT_EQ(row.reason, stats::Reason::too_few);
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high));
    return;
  }
  const auto [rescaled_low, rescaled_high] =
      plain_ends(cells, replicates, plain_quantile(replicates, 0.05), plain_quantile(replicates, 0.95), 0.9);
  expect_same(row.low, rescaled_low);
  expect_same(row.high, rescaled_high);
  EXPECT_EQ(row.reason, stats::Reason::ok);
}

TEST(Means, AreTheirDefinitionsOfRandomTables) {
  int intervals = 0;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    SCOPED_TRACE(seed);
    auto random = RandomScores::of(seed);
    const auto means = means_of(random.scores(), asked(), drawn_from);
    const auto row = [&](std::size_t measure, std::size_t subject, std::size_t item) {
      return means.rows.at((measure * random.table.length(1) + subject) * random.table.length(5) + item);
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

TEST(Means, ManySubjectsAndItemsShareTheDraws) {
  RandomScores random({1, 30, 3, 2, 2, 11});  // more than are computed together
  random.fill(2, 0.05);
  const auto means = means_of(random.scores(), asked(), drawn_from);
  for (std::size_t subject = 0; subject < 30; ++subject) {
    for (std::size_t item = 0; item < 11; ++item) {
      expect_row(means.rows.at(subject * 11 + item), plain_cells(random, 0, subject, item));
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
  const auto row = means_of(random.scores(), asked(), 1).rows.at(0);
  EXPECT_EQ(row.num_cells, 2);
  EXPECT_EQ(row.num_applicable, 3);
  EXPECT_DOUBLE_EQ(row.coverage(), 2.0 / 3);
}

TEST(Means, OfOneTemplateAndOneRephrasingHaveNoInterval) {
  RandomScores random({1, 2, 1, 1, 5, 1});
  random.fill(2, 0);
  for (const auto& row : means_of(random.scores(), asked(), 1).rows) {
    EXPECT_EQ(row.num_cells, 1);
    EXPECT_FALSE(std::isnan(row.mean));
    EXPECT_TRUE(std::isnan(row.low) && std::isnan(row.high));
    EXPECT_EQ(row.reason, stats::Reason::too_few);
  }
}

TEST(Means, MeasuresAreChosenByTheirLabels) {
  RandomScores random({3, 1, 2, 1, 1, 1});
  random.fill(2, 0);
  const auto means = means_of(random.scores(), asked({"measure2", "measure0"}), 1);
  EXPECT_EQ(means.axes.front().name, "mean_measure");
  EXPECT_THAT(means.axes.front().labels, ElementsAre("measure0", "measure2"));
  EXPECT_EQ(means.rows.size(), 2U);
  try {
    means_of(random.scores(), asked({"measure9", "weight"}), 1);
    FAIL();
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("statistics.means: no measure 'measure9'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'measure"));
    EXPECT_THAT(error.what(), HasSubstr("no measure 'weight'"));
  }
}

TEST(Means, TheLargestComeFirstInANarrowText) {
  RandomScores random({1, 3, 2, 1, 1, 1});
  for (std::size_t subject = 0; subject < 3; ++subject) {
    random.table.axes[1].labels[subject] += std::string(90, 'x');
    for (std::size_t sentence = 0; sentence < 2; ++sentence) {
      random.at({0, subject, sentence, 0, 0, 0}) = subject == 1 ? -70.5 : static_cast<double>(subject + sentence);
    }
  }
  const auto text = text_of(finding_of(means_of(random.scores(), asked(), 1), asked()), 2);
  EXPECT_LT(text.find("-70.5"), text.find("2.500"));
  EXPECT_THAT(text, HasSubstr("(2 of 3 rows; --top 3 shows all)"));
  EXPECT_THAT(text, Not(HasSubstr(" 0.500")));
  for (const auto& line : base::split(text, '\n')) {
    EXPECT_LE(std::ranges::count_if(line, [](char letter) { return (letter & 0xC0) != 0x80; }), 100) << line;
  }
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
  const auto means = means_of(random.scores(), asked({"measure1"}), 1);
  write(layout, finding_of(means, asked({"measure1"})));
  EXPECT_EQ(layout.axis("mean_measure").labels, std::vector<std::string>{"measure1"});
  for (const auto* name : {"mean_score", "mean_score_low", "mean_score_high", "mean_score_coverage"}) {
    std::vector<double> values(4);
    const auto dataset = file.root().open_dataset(name);
    EXPECT_EQ(dataset.shape(), (hdf5::Shape{1, 2, 2}));
    dataset.read(dataset.all(), std::span<double>(values));
    EXPECT_TRUE(stats::all_finite(values)) << name;
  }
  std::vector<std::int32_t> counts(4);
  const auto dataset = file.root().open_dataset("mean_score_n");
  dataset.read(dataset.all(), std::span<std::int32_t>(counts));
  EXPECT_THAT(counts, ElementsAre(6, 6, 6, 6));
  EXPECT_TRUE(file.root().contains("mean_score_status"));
}

}  // namespace
}  // namespace stereosweep::findings
