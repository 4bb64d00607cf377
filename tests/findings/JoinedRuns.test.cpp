#include <gmock/gmock.h>

#include <cmath>

#include "base/Error.hpp"
#include "findings/FindingNumbers.hpp"
#include "findings/RandomScores.hpp"
#include "findings/runs/RunComparison.hpp"
#include "stats/Summary.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Names = std::vector<std::string>;

RandomScores table_of(const Names& subjects, const Names& templates, const Names& items, double first) {
  RandomScores random({1, subjects.size(), templates.size(), 1, 1, items.size()});
  random.table.axes[subject_axis].labels = subjects;
  random.table.axes[template_axis].labels = templates;
  random.table.axes[item_axis].labels = items;
  for (std::size_t place = 0; place < random.table.values.size(); ++place) {
    random.table.values[place] = first + static_cast<double>(place);
  }
  return random;
}

void add_coordinate(RandomScores& random, std::size_t axis, const std::string& name, const Names& values) {
  random.table.axes[axis].coordinates.push_back({name, name, values});
}

RunScores run_of_table(const std::string& label, const RandomScores& random, const std::string& probe = "one") {
  return {label, probe, random.scores()};
}

TEST(JoinedRuns, labels_are_matched_whatever_their_order) {
  const auto left = table_of({"women", "men", "only left"}, {"a", "b"}, {"x"}, 0);
  const auto right = table_of({"men", "women"}, {"b", "c", "a"}, {"x"}, 100);
  const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
  EXPECT_TRUE(joined.is_paired());
  EXPECT_THAT(joined.subjects().labels, ElementsAre("women", "men"));
  EXPECT_THAT(joined.axis(template_axis).labels, ElementsAre("a", "b"));
  const auto cells = joined.cells(0);
  EXPECT_THAT(cells.values[0], ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cells.values[1], ElementsAre(105, 103, 102, 100));
  EXPECT_EQ(cells.num_shared, 4);
  ASSERT_EQ(joined.not_shared().size(), 2);
  EXPECT_THAT(joined.not_shared()[0].labels, ElementsAre("only left"));
  EXPECT_THAT(joined.not_shared()[1].labels, ElementsAre("c"));
}

TEST(JoinedRuns, a_cell_that_one_run_lacks_is_dropped_from_all) {
  auto left = table_of({"women"}, {"a", "b", "c"}, {"x"}, 1);
  const auto right = table_of({"women"}, {"a", "b", "c"}, {"x"}, 11);
  left.at({0, 0, 1, 0, 0, 0}) = stats::nan;
  const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
  const auto cells = joined.cells(0);
  EXPECT_EQ(cells.num_shared, 2);
  EXPECT_EQ(cells.num_dropped, 1);
  EXPECT_TRUE(std::isnan(cells.values[1][1]));
  EXPECT_EQ(joined.means(cells, 0)[0].value, 2);
  EXPECT_EQ(joined.means(cells, 1)[0].value, 12);
  EXPECT_EQ(joined.means(cells, 1)[0].num_cells, 2);
}

TEST(JoinedRuns, a_run_without_the_measure_drops_no_cell) {
  const auto left = table_of({"women"}, {"a", "b"}, {"x"}, 1);
  auto right = table_of({"women"}, {"a", "b"}, {"x"}, 11);
  right.table.axes[measure_axis].labels = {"other"};
  const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
  EXPECT_THAT(joined.measures().labels, ElementsAre("measure0", "other"));
  EXPECT_THAT(joined.cells(0).runs, ElementsAre(0));
  EXPECT_THAT(joined.cells(1).runs, ElementsAre(1));
  EXPECT_EQ(joined.cells(1).num_dropped, 0);
}

TEST(JoinedRuns, replicates_are_averaged_before_templates) {
  RandomScores left({1, 1, 2, 1, 2, 1});
  left.table.values = {1, 3, 10, stats::nan};
  const JoinedRuns joined({run_of_table("left", left), run_of_table("same", left)});
  EXPECT_EQ(joined.means(joined.cells(0), 0)[0].value, 6);  // (2 + 10) / 2
}

TEST(JoinedRuns, different_probes_meet_by_normalised_names_and_poles) {
  auto left = table_of({"Black people", "men"}, {"a"}, {"cold - warm"}, 0);
  auto right = table_of({"Blacks", "black-people"}, {"none"}, {"test 1"}, 10);
  add_coordinate(right, subject_axis, "name", {"Black people", ""});
  add_coordinate(right, item_axis, "left", {"Cold"});
  add_coordinate(right, item_axis, "right", {"warm"});
  const JoinedRuns joined({run_of_table("left", left, "one"), run_of_table("right", right, "two")});
  EXPECT_FALSE(joined.is_paired());
  EXPECT_THAT(joined.subjects().labels, ElementsAre("Black people"));
  EXPECT_THAT(joined.items().labels, ElementsAre("cold - warm"));
  const auto cells = joined.cells(0);
  EXPECT_EQ(joined.means(cells, 0)[0].value, 0);
  EXPECT_EQ(joined.means(cells, 1)[0].value, 10.5) << "two words of one group";
}

TEST(JoinedRuns, without_common_templates_nothing_is_paired) {
  const auto left = table_of({"women"}, {"a"}, {"x"}, 1);
  const auto right = table_of({"women"}, {"b", "c"}, {"x"}, 11);
  const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
  EXPECT_THAT(joined.why_unpaired(), HasSubstr("no template"));
  EXPECT_EQ(joined.means(joined.cells(0), 1)[0].value, 11.5);
}

TEST(JoinedRuns, differences_of_ratings_stay_between_their_ends) {
  auto left = table_of({"women"}, {"a", "b", "c"}, {"x"}, 1);
  auto right = table_of({"women"}, {"a", "b", "c"}, {"x"}, 1);
  left.at({0, 0, 2, 0, 0, 0}) = 1;
  right.at({0, 0, 2, 0, 0, 0}) = 5;
  const auto interval = [&] {
    const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
    const results::AxisSchema axis{"run", "", {"left", "right"}, {}};
    const auto found = compare_runs(joined, {.run_axis = axis, .comparison = {}});
    return std::vector{number_in(found.front(), "low", 0), number_in(found.front(), "high", 0)};
  };
  const auto wide = interval();
  ASSERT_LT(wide[0], -4);
  ASSERT_GT(wide[1], 4);
  for (auto* run : {&left, &right}) {
    add_coordinate(*run, measure_axis, "lowest", {"1"});
    add_coordinate(*run, measure_axis, "highest", {"5"});
  }
  EXPECT_THAT(interval(), ElementsAre(-4, 4));
  right.table.axes[measure_axis].coordinates.back().values = {"7"};
  EXPECT_EQ(interval(), wide);
}

TEST(JoinedRuns, answers_of_finished_files_are_counted) {
  auto scores = table_of({"women"}, {"a", "b", "c"}, {"x"}, 1);
  add_coordinate(scores, measure_axis, answers_name, {"2"});
  scores.table.statuses = {results::ScoreStatus::ok, results::ScoreStatus::ok, results::ScoreStatus::partial};
  const testing::TemporaryDirectory folder;
  scores.write(folder / "run.stats.h5");
  const results::ScoreFile file(folder / "run.stats.h5");
  const JoinedRuns joined({{"left", "one", scores_of(file)}, run_of_table("right", scores)});
  const auto cells = joined.cells(0);
  ASSERT_THAT(joined.means(cells, 0), SizeIs(1));
  EXPECT_EQ(joined.means(cells, 0)[0].num_answers, 2 + 2 + 1);
  EXPECT_EQ(joined.means(cells, 1)[0].num_answers, 2 + 2 + 1);
}

TEST(JoinedRuns, no_common_subject_is_an_error_that_names_both) {
  const auto left = table_of({"women"}, {"a"}, {"x"}, 1);
  const auto right = table_of({"men"}, {"a"}, {"x"}, 11);
  try {
    const JoinedRuns joined({run_of_table("left", left), run_of_table("right", right)});
    FAIL() << "joined";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no subject is in all results ('left' has women; 'right' has men)"));
  }
}

}  // namespace
}  // namespace stereosweep::findings
