#include "findings/people/People.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "config/JobText.hpp"
#include "findings/FindingNumbers.hpp"
#include "findings/RandomScores.hpp"
#include "findings/Streams.hpp"
#include "findings/people/Agreement.hpp"
#include "stats/NullTables.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;

std::vector<Rating> random_answers(std::uint64_t seed, std::size_t num_subjects, std::size_t num_items) {
  std::mt19937_64 random(seed);
  std::vector<Rating> answers;
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    for (std::size_t annotator = 0; annotator < 1 + random() % 6; ++annotator) {
      for (std::size_t item = 0; item < num_items; ++item) {
        if (random() % 5 != 0) {
          answers.push_back({subject, item, static_cast<double>(random() % 7 + 1), std::to_string(annotator)});
        }
      }
    }
  }
  return answers;
}

TEST(SampledCells, MeansAreOnTheScaleOfRatings) {
  const std::vector<Rating> answers = {{0, 0, 1, "4"}, {0, 0, 4, "9"}, {1, 1, 7, "9"}};
  const auto table = cells_of_answers(answers, 2, 2, {.lowest = 1, .highest = 7});
  EXPECT_THAT(table.means(), ElementsAre(25, ::testing::IsNan(), ::testing::IsNan(), 100));
  EXPECT_EQ(table.tables[0].lines[0].count, 2U);
  EXPECT_EQ(table.tables[1].lines[0].count, 1U);
}

TEST(SampledCells, EqualMeansOfWholeNumbersAreEqual) {
  std::vector<Rating> answers;
  for (std::size_t annotator = 0; annotator < 3; ++annotator) {
    answers.push_back({0, 0, 3, std::to_string(annotator)});
    answers.push_back({0, 1, static_cast<double>(2 + annotator), std::to_string(annotator)});
  }
  const auto means = cells_of_answers(answers, 1, 2, {.lowest = 1, .highest = 8}).means();
  EXPECT_EQ(means[0], means[1]);
}

TEST(SampledCells, EqualScoresHaveEqualMeansWhateverIsMissing) {
  SampledCells cells{4, {{{SampledLines{6}, SampledLines{1}}, std::vector<double>(24, 0.1)}}};
  auto& values = cells.tables[0].values;
  for (std::size_t missing = 0; missing < 4; ++missing) {
    values[4 * missing + missing] = values[4 * (missing + 1) + 3] = stats::nan;
  }
  EXPECT_THAT(cells.means(), ElementsAre(0.1, 0.1, 0.1, 0.1));
}

TEST(TauBootstrap, DoesNotDependOnThreads) {
  std::mt19937_64 random(1);
  SampledCells scores{20, {{{SampledLines{3, start_of(Stream::templates)}, SampledLines{2}}, {}}}};
  for (std::size_t place = 0; place < std::size_t{3} * 2 * 20; ++place) {
    scores.tables[0].values.push_back(random() % 8 == 0 ? stats::nan : std::normal_distribution<double>()(random));
  }
  const auto answers = random_answers(5, 5, 4);
  const auto table = cells_of_answers(answers, 5, 4, {.lowest = 1, .highest = 7}, start_of(Stream::annotators));
  std::vector<CellList> lists = {{}, {0, 1, 2, 3}};
  for (std::size_t cell = 0; cell < 20; ++cell) {
    lists[0].push_back(cell);
  }
  BootstrapSettings settings{.replicates = 1500, .seed = 9};
  const auto one = bootstrap_tau(scores, table, lists, settings);
  settings.num_threads = 3;
  const auto three = bootstrap_tau(scores, table, lists, settings);
  for (std::size_t list = 0; list < lists.size(); ++list) {
    ASSERT_EQ(one[list].size(), 1500U);
    for (std::size_t place = 0; place < one[list].size(); ++place) {
      EXPECT_TRUE(one[list][place] == three[list][place] ||
                  (std::isnan(one[list][place]) && std::isnan(three[list][place])));
    }
  }
}

TEST(TauBootstrap, WithNothingDrawnIsTauB) {
  std::mt19937_64 random(2);
  SampledCells scores{20, {{{SampledLines{2}, SampledLines{3}}, {}}}};
  for (std::size_t place = 0; place < std::size_t{2} * 3 * 20; ++place) {
    scores.tables[0].values.push_back(static_cast<double>(random() % 4));
  }
  const auto answers = random_answers(6, 5, 4);
  const auto table = cells_of_answers(answers, 5, 4, {.lowest = 1, .highest = 7});
  CellList all;
  for (std::size_t cell = 0; cell < 20; ++cell) {
    all.push_back(cell);
  }
  const auto taus = bootstrap_tau(scores, table, std::span(&all, 1), {.replicates = 2});
  const auto plain = agreement_of({4, scores.means(), table.means()}).tau;
  EXPECT_NEAR(taus[0][0], plain.value, 1e-12);
  EXPECT_EQ(taus[0][0], taus[0][1]);
}

TEST(TemplateChoice, IsTheBestOfSinglesAndPairs) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::vector<double>> by_template(5, std::vector<double>(24));
    std::vector<double> ratings(24);
    for (std::size_t cell = 0; cell < 24; ++cell) {
      ratings[cell] = static_cast<double>(random() % 12);
      for (auto& scores : by_template) {
        scores[cell] = random() % 10 == 0 ? stats::nan : std::normal_distribution<double>()(random);
      }
    }
    double best = -2;
    for (std::size_t first = 0; first < 5; ++first) {
      for (auto second = first; second < 5; ++second) {
        const auto scores = mean_of_templates(by_template, std::array{first, second});
        best = std::max(best, agreement_of({24, scores, ratings}).tau.value);
      }
    }
    const auto choice = choose_templates(by_template, ratings, 2);
    ASSERT_TRUE(choice);
    EXPECT_DOUBLE_EQ(choice->pooled.value, best);
    EXPECT_EQ(choose_templates(by_template, ratings, 1)->templates.size(), 1U);
  }
}

/// bench_shuffled_tau has figures of 900 tables.
TEST(ShuffledP, TheCitedOneKeepsItsLevelWhereWholeBlocksMoveTogether) {
  constexpr std::size_t num_rows = 15;
  constexpr std::size_t num_columns = 9;
  constexpr std::size_t num_tables = 600;
  const auto dimensions = stats::testing::column_blocks(num_columns);
  const auto domains = stats::testing::row_blocks(num_rows);
  std::vector<stats::testing::Effects> kinds(std::begin(stats::testing::null_kinds),
                                             std::end(stats::testing::null_kinds));
  kinds.insert(kinds.end(), std::begin(stats::testing::block_kinds), std::end(stats::testing::block_kinds));
  for (const auto& effects : kinds) {
    std::mt19937_64 random(5);
    double alarms = 0;
    for (std::size_t place = 0; place < num_tables; ++place) {
      const RatedTable table{num_columns, stats::testing::null_table(random, num_rows, num_columns, effects),
                             stats::testing::null_table(random, num_rows, num_columns, effects, 0.1)};
      const auto found = shuffled_p(table, dimensions, domains, {.draws = 79, .seed = place});
      EXPECT_EQ(found.cited(), std::max(found.dimensions.value, found.domains.value));
      alarms += found.cited() <= ShuffledP::level ? 1 : 0;
    }
    EXPECT_LT(alarms / num_tables, 0.065) << effects.name;
  }
}

TEST(ShuffledP, BlocksThatCannotReachTheLevelDoNotCount) {
  std::mt19937_64 random(4);
  const RatedTable table{4, stats::testing::null_table(random, 3, 4, {"", 0, 0}),
                         stats::testing::null_table(random, 3, 4, {"", 0, 0})};
  const std::vector<std::size_t> dimensions = {0, 0, 1, 1};  // 2! 2! 2! = 8 orders
  const std::vector<std::size_t> domains = {0, 1, 2};        // 6
  const auto found = shuffled_p(table, dimensions, domains, {.draws = 99, .seed = 1});
  EXPECT_FALSE(found.dimensions.defined() || found.domains.defined());
  EXPECT_EQ(found.cited(), std::max(found.items.value, found.subjects.value));
  EXPECT_DOUBLE_EQ(found.smallest, 2.0 / 6);  // of three subjects
  const auto known = shuffled_p(table, {}, {}, {.draws = 99, .seed = 1});
  EXPECT_EQ(known.cited(), found.cited());
  const RatedTable one{4, {1, 2, 3, 4}, {2, 1, 4, 3}};
  EXPECT_EQ(shuffled_p(one, {}, {}, {.draws = 99}).cited(), shuffled_p(one, {}, {}, {.draws = 99}).items.value);
}

TEST(People, AScoreTableOfAnyProbeWillDo) {
  RandomScores random({2, 4, 3, 2, 2, 5});
  random.fill(8, 0.1);
  const config::JobFolder folder;
  std::string table = "annotator\tsubject\titem\trating\n";
  for (std::size_t place = 0; place < 60; ++place) {
    table += "a" + std::to_string(place / 20) + "\tSubject" + std::to_string(place % 20 / 5) + "\titem" +
             std::to_string(place % 5) + "\t" + std::to_string(place * 37 % 101) + "\n";
  }
  sweep::Comparison comparison{.replicates = 200, .draws = 200};
  comparison.people.emplace().ratings = folder.write("answers.tsv", table).string();
  const auto found = agree_with_people(random.scores(), comparison, 1);
  const auto& people = found.at(0);
  ASSERT_EQ(people.num_rows(), 2 * 5U);  // no dimensions
  EXPECT_EQ(number_in(found.at(2), "annotators", 0), 3);
  for (const std::size_t pooled : {0U, 5U}) {
    const auto of_subject = pooled + 1;
    EXPECT_EQ(number_in(people, "n", pooled), 20);
    EXPECT_LT(number_in(people, "tau_low", pooled), number_in(people, "tau_high", pooled));
    EXPECT_GE(number_in(people, "tau_p_items", pooled), 2.0 / 201);
    EXPECT_TRUE(std::isnan(number_in(people, "tau_p_subjects", of_subject)));
    EXPECT_EQ(number_in(people, "tau_p_cite", of_subject), number_in(people, "tau_p_items", of_subject));
  }
}

}  // namespace
}  // namespace stereosweep::findings
