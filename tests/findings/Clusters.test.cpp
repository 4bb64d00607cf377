#include "findings/clusters/Clusters.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "base/Error.hpp"
#include "findings/RandomScores.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Across = sweep::ClusterRequest::Across;

/// A table of intersections (first x second) rated on two items of warmth and one of competence.
struct Planted {
  RandomScores random;
  std::vector<std::string> firsts;
  std::vector<std::string> seconds;

  Planted(std::vector<std::string> first, std::vector<std::string> second, std::size_t num_measures = 1)
      : random({num_measures, first.size() * second.size(), 2, 2, 1, 3}),
        firsts(std::move(first)),
        seconds(std::move(second)) {
    auto& subjects = random.table.axes[subject_axis];
    subjects.coordinates = {{"kind", "", {}}, {"first", "", {}}, {"second", "", {}}};
    subjects.labels.clear();
    for (const auto& one : firsts) {
      for (const auto& other : seconds) {
        subjects.labels.push_back(one + " " + other);
        subjects.coordinates[0].values.emplace_back("intersection");
        subjects.coordinates[1].values.push_back(one);
        subjects.coordinates[2].values.push_back(other);
      }
    }
    random.table.axes[item_axis].coordinates = {{"dimension", "", {"warmth", "competence", "warmth"}}};
  }

  /// Scores around these means; the noise of the four cells of an item sums to 0.
  void put(std::size_t measure, std::size_t subject, double warmth, double competence) {
    for (std::size_t cell = 0; cell < 4; ++cell) {
      const double noise = cell % 2 == 0 ? 0.25 : -0.25;
      for (std::size_t item = 0; item < 3; ++item) {
        random.at({measure, subject, cell / 2, cell % 2, 0, item}) = (item == 1 ? competence : warmth) + noise;
      }
    }
  }
};

TEST(FindingsClusters, points_are_means_over_the_cells_of_a_dimension) {
  Planted planted({"old", "young"}, {"men", "women"});
  for (std::size_t subject = 0; subject < 4; ++subject) {
    planted.put(0, subject, 2 + static_cast<double>(subject), 3);
  }
  planted.random.at({0, 1, 0, 0, 0, 2}) = stats::nan;  // 3.25 of eight cells of warmth
  for (std::size_t cell = 0; cell < 4; ++cell) {
    planted.random.at({0, 3, cell / 2, cell % 2, 0, 1}) = stats::nan;
  }
  const auto found = clusters_of(planted.random.scores(), {.number = "2", .max_clusters = 3}, 5);
  EXPECT_THAT(found.dimensions.labels, ElementsAre("warmth", "competence"));
  const auto& source = found.sources.at(0);
  EXPECT_EQ(source.points[0], 2);
  EXPECT_DOUBLE_EQ(source.points[2], (8 * 3 - 3.25) / 7);
  EXPECT_TRUE(std::isnan(source.points[7]));
  EXPECT_THAT(source.subjects, ElementsAre(0, 1, 2));
  EXPECT_THAT(source.cluster_of, ElementsAre(0, 0, 1, -1));
  EXPECT_DOUBLE_EQ(source.limits[0], (2 + (8 * 3 - 3.25) / 7 + 4) / 3);
  EXPECT_EQ(found.type_of(0, 2), "high-middle");
  EXPECT_EQ(found.type_of(0, 3), "");
}

TEST(FindingsClusters, the_mean_of_replicates_stands_for_them) {
  RandomScores random({1, 6, 2, 2, 3, 2});
  random.table.axes[item_axis].coordinates = {{"dimension", "", {"a", "b"}}};
  for (std::size_t place = 0; place < random.table.values.size(); ++place) {
    random.table.values[place] = base::random_unit(3, 1, place);
  }
  const auto averaged = clusters_of(random.scores(), {.number = "2"}, 1);
  double sum = 0;
  for (std::size_t cell = 0; cell < 12; ++cell) {
    sum += random.at({0, 4, cell / 6, cell / 3 % 2, cell % 3, 1});
  }
  EXPECT_NEAR(averaged.sources[0].points[4 * 2 + 1], sum / 12, 1e-15);
  random.table.axes[replicate_axis].labels = {"mean", "run 1", "run 2"};
  const auto taken = clusters_of(random.scores(), {.number = "2"}, 1);
  sum = 0;
  for (std::size_t cell = 0; cell < 4; ++cell) {
    sum += random.at({0, 4, cell / 2, cell % 2, 0, 1});
  }
  EXPECT_NEAR(taken.sources[0].points[4 * 2 + 1], sum / 4, 1e-15);
}

/// winoidentity, Table 5: competence and warmth of the clusters low-low, high-high, high-low and their sizes. Above the
/// mean of all subjects is the rule that names these clusters as the paper does, but for one centre of one model.
TEST(FindingsClusters, high_above_the_mean_names_published_clusters) {
  const std::vector<std::vector<double>> centres = {{2.95, 3.21, 3.57, 3.46, 3.73, 3.07},
                                                    {1.46, 1.76, 3.61, 3.41, 3.03, 2.24},
                                                    {1.93, 2.05, 3.16, 2.90, 2.69, 2.48},
                                                    {2.40, 2.45, 3.07, 2.96, 3.64, 3.11}};
  const std::vector<std::size_t> sizes = {16, 21, 11};
  std::vector<std::vector<std::string>> types;
  std::vector<std::string> names;
  for (std::size_t subject = 0; subject < 48; ++subject) {
    names.push_back("subject " + std::to_string(subject));
  }
  for (const auto& of_model : centres) {
    Planted planted(names, {"all"});
    for (std::size_t subject = 0; subject < 48; ++subject) {
      const std::size_t cluster = subject < 16 ? 0 : subject < 37 ? 1 : 2;
      planted.put(0, subject, of_model[2 * cluster] + 1e-4 * static_cast<double>(subject % 3),
                  of_model[2 * cluster + 1]);
    }
    const auto found = clusters_of(planted.random.scores(), {.number = "3"}, 1);
    ASSERT_EQ(found.sources[0].number, 3U);
    types.push_back({found.type_of(0, 0), found.type_of(0, 16), found.type_of(0, 37)});
  }
  EXPECT_THAT(types[0], ElementsAre("low-low", "high-high", "high-low"));
  EXPECT_THAT(types[1], ElementsAre("low-low", "high-high", "high-low"));
  EXPECT_THAT(types[2], ElementsAre("low-low", "high-high", "high-low"));
  EXPECT_THAT(types[3], ElementsAre("low-low", "high-high", "high-high"));
}

std::string text_of_all(const Clusters& clusters, const sweep::ClusterRequest& request) {
  std::string text;
  for (const auto& finding : findings_of(clusters, request, 1)) {
    text += told_by(finding, 10).text();
  }
  return text;
}

struct TwoMeasures {
  Planted planted{{"poor", "rich", "gay"}, {"women", "men"}, 2};
  TwoMeasures() {
    // poor: low-low; rich: low-high; gay women: high-high, gay men: low-low by the first measure, high-high by the
    // other
    const std::vector<std::array<double, 2>> first = {{1, 1}, {1.2, 1.1}, {1, 4}, {1.1, 4.2}, {5, 4}, {1.1, 1.3}};
    for (std::size_t subject = 0; subject < 6; ++subject) {
      planted.put(0, subject, first[subject][0], first[subject][1]);
      planted.put(1, subject, subject == 5 ? 4.8 : first[subject][0], subject == 5 ? 4.1 : first[subject][1]);
    }
  }
};

TEST(FindingsClusters, measures_agree_by_the_sides_of_clusters) {
  TwoMeasures two;
  const auto found = clusters_of(two.planted.random.scores(), {.number = "3", .across = Across::second}, 1);
  EXPECT_THAT(found.columns, ElementsAre("women", "men"));
  ASSERT_EQ(found.rows.size(), 3U);
  EXPECT_EQ(found.type_of(0, 0), "low-low");
  EXPECT_EQ(found.type_of(0, 2), "low-high");
  EXPECT_EQ(found.type_of(0, 4), "high-high");
  using Agreement = Clusters::Agreement;
  EXPECT_EQ(found.agreements[6 + 4], Agreement::agrees);
  EXPECT_EQ(found.agreements[6 + 5], Agreement::differs);
  EXPECT_EQ(agreement_of(found, 0, found.rows[2]), Agreement::differs);
  EXPECT_EQ(agreement_of(found, 1, found.rows[2]), Agreement::agrees);
  EXPECT_EQ(found.rand[0].value, 1);
  // {poor women, poor men, gay men}, {rich x 2}, {gay women} against the pairs: 2 of 4 and 3 pairs together
  EXPECT_NEAR(found.rand[1].value, (2 - 4 * 3 / 15.0) / (3.5 - 4 * 3 / 15.0), 1e-15);
  const auto text = text_of_all(found, {.across = Across::second});
  EXPECT_THAT(text, HasSubstr("by measure0, warmth high, competence high: gay women."));
  EXPECT_THAT(text, HasSubstr("WARNING: the clusters were fitted on the same scores"));
  EXPECT_EQ(text_of_all(found, {.is_asked = false}), "");
}

TEST(FindingsClusters, tests_compare_dimensions_within_a_cluster) {
  TwoMeasures two;
  const auto found = clusters_of(two.planted.random.scores(), {.measures = {"measure1"}, .number = "3"}, 1);
  ASSERT_EQ(found.tests.size(), 3U);
  const auto expected = stats::paired_t_test(std::vector<double>{1, 1.1}, std::vector<double>{4, 4.2});
  EXPECT_NEAR(found.tests[1].test.t, expected.t, 1e-11 * std::abs(expected.t));
  for (const auto& [test, p_holm] : found.tests) {
    EXPECT_TRUE(!test.defined() || p_holm >= test.p);
  }
  EXPECT_NEAR(found.tests[1].p_holm, 3 * expected.p, 1e-10);  // the smallest of three
}

TEST(FindingsClusters, sides_and_tests_are_not_given_where_the_spread_is_within_its_error) {
  RandomScores random({1, 12, 6, 1, 1, 2});
  random.table.axes[item_axis].coordinates = {{"dimension", "", {"a", "b"}}};
  for (std::size_t subject = 0; subject < 12; ++subject) {
    for (std::size_t sentence = 0; sentence < 6; ++sentence) {  // on `a` subjects differ, on `b` sentences alone do
      const double noise = base::random_unit(3, subject, sentence);
      random.at({0, subject, sentence, 0, 0, 0}) = static_cast<double>(subject % 3) + 0.1 * noise;
      random.at({0, subject, sentence, 0, 0, 1}) = static_cast<double>((subject + sentence) % 6) - 0.1 * noise;
    }
  }
  const auto found = clusters_of(random.scores(), {.number = "3"}, 1);
  const auto& source = found.sources.front();
  EXPECT_FALSE(source.is_within_error(0));
  EXPECT_TRUE(source.is_within_error(1));
  for (const auto& [test, p_holm] : found.tests) {
    EXPECT_TRUE(test.defined() && std::isnan(p_holm));
  }
  const auto text = text_of_all(found, {});
  EXPECT_THAT(text, HasSubstr("within_error"));
  EXPECT_THAT(text, HasSubstr("Paired t of two dimensions over the members of each cluster by measure0\nnone\n"));
}

/// A cell that a table lacks by its subject, template and the noise in it.
using IsMissing = bool (*)(std::size_t subject, std::size_t template_, double noise);

/// Of tables with nothing but what templates and rephrasings do to single subjects: where the p of the spread is at
/// most 5 %.
double share_of_false_spreads(std::initializer_list<IsMissing> missing) {
  constexpr std::size_t num_tables = 20;
  constexpr std::size_t num_dimensions = 30;
  std::mt19937_64 generator(20261127);
  std::normal_distribution<double> normal;
  const auto draws = [&](std::size_t number) {
    std::vector<double> values(number);
    std::ranges::generate(values, [&] { return normal(generator); });
    return values;
  };
  double alarms = 0;
  for (std::size_t table = 0; table < num_tables; ++table) {
    RandomScores random({1, 6, 12, 4, 1, num_dimensions});
    random.table.axes[item_axis].coordinates = {{"dimension", "", random.table.axes[item_axis].labels}};
    const auto rest = draws(random.table.values.size());
    const auto of_templates = draws(std::size_t{6} * 12 * num_dimensions);
    const auto of_rephrasings = draws(std::size_t{6} * 4 * num_dimensions);
    const auto is_missing = missing.begin()[table % missing.size()];
    for (std::size_t place = 0; place < rest.size(); ++place) {
      const auto item = place % num_dimensions;
      const auto sentence = place / num_dimensions;
      const auto of_subject = sentence / 48 * 4 + sentence % 4;
      random.table.values[place] = is_missing(sentence / 48, sentence / 4 % 12, rest[place])
                                       ? stats::nan
                                       : rest[place] + 0.7 * of_templates[sentence / 4 * num_dimensions + item] +
                                             0.5 * of_rephrasings[of_subject * num_dimensions + item];
    }
    const auto found = clusters_of(random.scores(), {.number = "2", .max_clusters = 2}, 1);
    alarms +=
        static_cast<double>(std::ranges::count_if(found.sources.front().spread_p, [](double p) { return p <= 0.05; }));
  }
  return alarms / (num_tables * num_dimensions);
}

/// Over subjects x templates alone the share is 33 %.
TEST(FindingsClusters, p_of_the_spread_keeps_its_level_where_rephrasings_move_subjects) {
  const auto share = share_of_false_spreads({[](std::size_t, std::size_t, double) { return false; },
                                             [](std::size_t, std::size_t, double noise) { return noise > 1.5; }});
  EXPECT_LE(share, 0.085);  // 5 % and four standard errors
  EXPECT_GE(share, 0.015);
}

TEST(FindingsClusters, p_of_the_spread_keeps_its_level_where_subjects_lack_templates) {
  const auto share = share_of_false_spreads(
      {[](std::size_t subject, std::size_t template_, double) { return subject < 3 && template_ > 3; }});
  EXPECT_LE(share, 0.085);
  EXPECT_GE(share, 0.015);
}

TEST(FindingsClusters, people_are_clustered_and_are_the_reference) {
  TwoMeasures two;
  const stereosweep::testing::TemporaryDirectory directory;
  const auto path = (directory / "people.tsv").string();
  std::ofstream(path) << "group\tdimension\tmean\nPoor women\twarmth\t10\nPoor women\tcompetence\t12\n"
                         "poor-men\twarmth\t11\npoor-men\tcompetence\t10\nrich women\twarmth\t15\n"
                         "rich women\tcompetence\t90\ngay women\twarmth\t80\ngay women\tcompetence\t91\n"
                         "martians\twarmth\t1\n";
  sweep::ClusterRequest request{.number = "3", .max_clusters = 4, .human_ratings = path};
  const auto found = clusters_of(two.planted.random.scores(), request, 1);
  ASSERT_TRUE(found.has_people);
  EXPECT_THAT(found.unmatched, ElementsAre("martians"));
  EXPECT_THAT(found.sources.back().subjects, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(found.type_of(2, 2), "low-high");
  EXPECT_EQ(found.rand[2 * 3 + 1].value, 1);
  EXPECT_EQ(found.agreements[5], Clusters::Agreement::none);
  request.high_above = "95";
  EXPECT_EQ(clusters_of(two.planted.random.scores(), request, 1).type_of(2, 4), "low-low");
}

/// As though the table had these dimensions alone, in the order that is asked for.
TEST(FindingsClusters, dimensions_are_those_that_are_asked_for) {
  RandomScores random({1, 9, 2, 2, 1, 4});
  random.table.axes[item_axis].coordinates = {{"dimension", "", {"a", "b", "c", "b"}}};
  for (std::size_t place = 0; place < random.table.values.size(); ++place) {
    random.table.values[place] = base::random_unit(7, 1, place);
  }
  random.at({0, 4, 0, 0, 0, 1}) = stats::nan;
  for (std::size_t cell = 0; cell < 4; ++cell) {
    random.at({0, 2, cell / 2, cell % 2, 0, 0}) = stats::nan;  // no score on a, which counts only where a is asked for
  }
  const auto all = clusters_of(random.scores(), {.number = "3", .max_clusters = 4}, 5);
  const auto some = clusters_of(random.scores(), {.dimensions = {"c", "b"}, .number = "3", .max_clusters = 4}, 5);
  EXPECT_THAT(some.dimensions.labels, ElementsAre("c", "b"));
  EXPECT_EQ(some.pairs.size(), 1U);
  EXPECT_EQ(all.sources[0].subjects.size(), 8U);
  EXPECT_EQ(some.sources[0].subjects.size(), 9U);
  std::vector<double> points;
  for (std::size_t subject = 0; subject < 9; ++subject) {
    points.push_back(all.sources[0].points[subject * 3 + 2]);
    points.push_back(all.sources[0].points[subject * 3 + 1]);
  }
  EXPECT_EQ(some.sources[0].points, points);
  stats::ClusterSettings settings;
  settings.seed = 5;
  EXPECT_EQ(some.sources[0].chosen().inertia, stats::cluster({points, 2}, 3, settings).inertia);
  try {
    clusters_of(random.scores(), {.dimensions = {"c", "bb"}}, 5);
    FAIL() << "a dimension that no item has";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("statistics.clusters.dimensions: no item has the dimension 'bb' (the score "
                                        "table has a, b, c)"));
  }
}

TEST(FindingsClusters, says_what_is_missing) {
  RandomScores random({1, 3, 2, 1, 1, 2});
  EXPECT_THROW(clusters_of(random.scores(), {}, 1), base::InputError);
  random.table.axes[item_axis].coordinates = {{"dimension", "", {"", "a"}}};
  EXPECT_THROW(clusters_of(random.scores(), {.measures = {"no such"}}, 1), base::InputError);
  EXPECT_THROW(clusters_of(scores_of(random.table.axes), {.across = Across::first}, 1), base::InputError)
      << "before there are scores, too";
  const auto none = clusters_of(random.scores(), {}, 1);  // no scores at all
  EXPECT_EQ(none.sources[0].number, 0U);
  EXPECT_EQ(none.rand[0].reason, stats::Reason::no_values);
  EXPECT_THAT(text_of_all(none, {}), HasSubstr("no_values"));
}

}  // namespace
}  // namespace stereosweep::findings
