#include "findings/Cells.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "findings/FindingNumbers.hpp"
#include "findings/Means.hpp"
#include "findings/RandomScores.hpp"
#include "findings/correlations/Correlations.hpp"

namespace stereosweep::findings {
namespace {

using stats::nan;
using ::testing::ElementsAre;

/// One subject, two sentences, three replicates (the second is the mean of the others), one item.
RandomScores with_mean_replicate() {
  RandomScores random({1, 1, 2, 1, 3, 1});
  random.table.axes[replicate_axis].labels = {"run 1", "mean", "run 2"};
  random.table.values = {1, 5, 3, 2, 7, nan};
  return random;
}

TEST(Cells, the_mean_of_the_replicates_is_not_one_more_run) {
  const auto random = with_mean_replicate();
  const auto scores = random.scores();
  const auto values = scores.read(0);
  const Cells cells(scores, values);
  EXPECT_THAT(cells.values(), ElementsAre(5, 7));
  EXPECT_EQ(cells.means({subject_axis}).front().value, 6);
  const auto runs = cells.of_replicates({true, false, true});
  EXPECT_THAT(runs.values(), ElementsAre(2, 2));
}

TEST(Cells, without_replicates_no_answer_is_counted) {
  auto random = with_mean_replicate();
  random.table.statuses.assign(6, results::ScoreStatus::ok);
  const auto scores = random.scores();
  const auto values = scores.read(0);
  const auto statuses = scores.read_statuses(0);
  const Cells cells(scores, values, statuses);
  const std::vector<std::size_t> items = {0};
  EXPECT_EQ(cells.num_answers(0, items, 1), 4);
  EXPECT_EQ(cells.of_replicates({true, false, false}).num_answers(0, items, 1), 2);
  EXPECT_EQ(cells.of_replicates({false, false, false}).num_answers(0, items, 1), 0);
}

TEST(Cells, say_why_a_cell_has_no_number) {
  RandomScores random({1, 1, 4, 1, 2, 1});
  random.table.values = {nan, 1, nan, -HUGE_VAL, nan, nan, nan, nan};
  const auto none = results::ScoreStatus::not_applicable;
  const auto missing = results::ScoreStatus::missing;
  random.table.statuses = {missing, results::ScoreStatus::ok, missing, missing, none, missing, none, none};
  const auto scores = random.scores();
  const auto values = scores.read(0);
  const auto statuses = scores.read_statuses(0);
  const Cells cells(scores, values, statuses);
  EXPECT_EQ(cells.state(0, 0, 0), CellState::scored);
  EXPECT_EQ(cells.state(0, 1, 0), CellState::missing);
  EXPECT_EQ(cells.state(0, 2, 0), CellState::missing);
  EXPECT_EQ(cells.state(0, 3, 0), CellState::not_applicable);
  EXPECT_EQ(cells.means({}).front().num_cells, 1);
  EXPECT_TRUE(std::isnan(cells.at(0, 1, 0)));
}

TEST(Cells, means_over_any_axes_are_those_of_their_cells) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto random = RandomScores::of(seed);
    const auto scores = random.scores();
    const auto values = scores.read(0);
    const Cells cells(scores, values);
    const auto by_both = cells.means({subject_axis, item_axis});
    std::vector<std::size_t> items(scores.length(item_axis));
    for (std::size_t item = 0; item < items.size(); ++item) {
      items[item] = item;
    }
    std::int32_t num_cells = 0;
    for (std::size_t subject = 0; subject < scores.length(subject_axis); ++subject) {
      for (const auto item : items) {
        const auto one = cells.mean(subject, std::vector{item});
        const auto& same = by_both[subject * items.size() + item];
        EXPECT_EQ(one.num_cells, same.num_cells);
        EXPECT_TRUE(one.value == same.value || std::isnan(one.value + same.value));
        num_cells += one.num_cells;
      }
    }
    EXPECT_EQ(cells.means({}).front().num_cells, num_cells);
    EXPECT_EQ(cells.means({item_axis, subject_axis, template_axis, rephrasing_axis}).size(), cells.values().size());
  }
}

TEST(Cells, statistics_of_one_table_agree_on_means) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto random = RandomScores::of(seed);
    auto& replicates = random.table.axes[replicate_axis].labels;
    if (seed % 2 == 0) {
      replicates[seed / 2 % replicates.size()] = results::ScoreTable::mean_replicate;
    }
    const auto scores = random.scores();
    sweep::Comparison comparison{.replicates = 20, .draws = 20};
    comparison.means.emplace();
    const auto& items = *scores.axes[item_axis];
    comparison.extremes = {.of = {{items.name, items.labels}}};
    const auto means = means_of(scores, comparison);
    const auto extremes = extremes_of(scores, comparison);
    std::vector<Finding> correlations;
    Clusters clusters;
    if (items.labels.size() > 1) {
      comparison.correlations = {{.name = "all", .rows = {{items.name, items.labels}}}};
      correlations = correlations_of(scores, comparison, nullptr, 1);
      random.table.axes[item_axis].coordinates = {{"dimension", "", items.labels}};
      clusters = clusters_of(scores, {.number = "2", .max_clusters = 1}, 1);
    }
    const auto num_subjects = scores.length(subject_axis);
    const auto num_items = scores.length(item_axis);
    for (std::size_t place = 0; place < means.num_rows(); ++place) {
      const double mean = number_in(means, "", place);
      const auto item = place % num_items;
      const auto subject = place / num_items % num_subjects;
      const auto measure = place / num_items / num_subjects;
      const double extreme = number_in(extremes, "mean", (measure * num_items + item) * num_subjects + subject);
      EXPECT_TRUE(mean == extreme || std::isnan(mean + extreme)) << seed;
      if (num_items > 1) {
        const double correlated =
            number_in(correlations.back(), "", (measure * num_subjects + subject) * num_items + item);
        EXPECT_TRUE(mean == correlated || std::isnan(mean + correlated)) << seed;
        const double point = clusters.sources[measure].points[subject * num_items + item];
        EXPECT_TRUE(mean == point || std::isnan(mean + point)) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::findings
