#include <gmock/gmock.h>

#include "config/ProbeFormat.hpp"
#include "config/yaml/Yaml.hpp"

namespace stereosweep::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ReadComparison {
  sweep::Comparison comparison;
  std::vector<std::string> problems;
};

ReadComparison read_comparison(const std::string& text) {
  base::Problems problems;
  Node statistics = parse_yaml(text, "job", problems);
  Pieces pieces(".", Pieces::Access::inline_only);
  sweep::Comparison comparison;
  Fields fields(statistics, "statistics", problems, "", &pieces);
  comparison_keys(fields, comparison);
  fields.finish();
  return {std::move(comparison), problems.lines()};
}

std::string dumped(const sweep::Comparison& comparison) {
  ShownKeys fields;
  comparison_keys(fields, comparison);
  return emit_yaml(fields.take());
}

TEST(ComparisonMeasures, MeansAndVarianceAreOfAllMeasuresOrOfSome) {
  const auto read =
      read_comparison("means: all\nvariance_shares: {measures: [ilps, set]}\ninference: {replicates: 500}\n");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_THAT(read.comparison.means.value().measures, IsEmpty());
  EXPECT_THAT(read.comparison.variance.value().measures, ElementsAre("ilps", "set"));
  EXPECT_EQ(read.comparison.replicates, 500);
  EXPECT_TRUE(read.comparison.asks());
  EXPECT_TRUE(read_comparison("people: {ratings: a.tsv}\n").comparison.asks());
  const auto nothing = read_comparison("inference: {replicates: 500}\n");
  EXPECT_FALSE(nothing.comparison.means || nothing.comparison.variance || nothing.comparison.asks());
}

TEST(ComparisonMeasures, AllAndAnEmptyMappingAreTheDefaultsOfEveryStatistic) {
  sweep::Comparison known;
  sweep::Comparison::each_statistic(known, [](const sweep::Statistic& statistic, const auto& asked) {
    const std::string name = statistic.key;
    if constexpr (requires { asked.has_value(); }) {
      const auto all = read_comparison(name + ": all\n");
      const auto empty = read_comparison(name + ": {}\n");
      EXPECT_EQ(all.comparison, empty.comparison) << name;
      EXPECT_TRUE(all.comparison.asks()) << name;
      if (name == "people") {  // nobody knows whose answers
        EXPECT_THAT(all.problems, ElementsAre(HasSubstr("job:1:statistics.people.ratings: the key 'ratings'")));
      } else {
        EXPECT_THAT(all.problems, IsEmpty()) << name;
        EXPECT_EQ(read_comparison(dumped(all.comparison)).comparison, all.comparison) << name;
      }
    }
  });
}

/// The form with labels that differ.
std::string example_of(std::string form) {
  const std::string label = "LABEL";
  for (std::size_t place = form.find(label); place != std::string::npos; place = form.find(label, place)) {
    form.replace(place, label.size(), "label" + std::to_string(place));
  }
  return form;
}

/// The form that messages show is an example, which is read, kept and told apart by its name.
TEST(ComparisonMeasures, EveryListOfRequestsReadsBackWhatItDumps) {
  sweep::Comparison known;
  std::size_t num_lists = 0;
  sweep::Comparison::each_statistic(known, [&](const sweep::Statistic& statistic, const auto& asked) {
    if constexpr (!requires { asked.has_value(); }) {
      using Request = typename std::remove_cvref_t<decltype(asked)>::value_type;
      const std::string name = statistic.key;
      const auto form = example_of(Request::key_form);
      const auto read = read_comparison(name + ": [" + form + "]\n");
      EXPECT_THAT(read.problems, IsEmpty()) << name;
      EXPECT_TRUE(read.comparison.asks()) << name;
      EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << name;
      EXPECT_THAT(read_comparison(name + ": all\n").problems, ElementsAre(HasSubstr("job:1:statistics." + name)));
      EXPECT_THAT(read_comparison(name + ": [{}]\n").problems, Contains(HasSubstr(name + "[0].name"))) << name;
      EXPECT_THAT(read_comparison(name + ": [" + form + ", " + form + "]\n").problems,
                  ElementsAre(HasSubstr(std::string("a second ") + Request::listed_as + " '")));
      ++num_lists;
    }
  });
  EXPECT_GE(num_lists, 2U);
}

TEST(ComparisonMeasures, ReadsBackWhatItDumps) {
  for (const auto* text :
       {"means: all\n", "variance_shares: all\ninference: {confidence: 0.9}\n",
        "means: {measures: [a]}\nvariance_shares: {measures: [b, c]}\n", "intersections: all\n",
        "intersections: {threshold: 0.2, known: /none/known.tsv}\n", "people: {ratings: /none/a.tsv, measures: all}\n",
        "people: {ratings: /none/a.tsv, aliases: {x: y}, scale: [1, 7.5], only: {gender: [w, m]},"
        " subgroups: age, measures: [a], over: [template, annotator],"
        " selection: {pilot_subjects: [b], pilot_annotators: [c], most: 1}}\n",
        "people: {ratings: /none/a.tsv, selection: {pilot_annotators: {share: 0.25, seed: 7}}}\n"}) {
    const auto read = read_comparison(text);
    EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << text;
  }
}

TEST(ComparisonMeasures, CorrelationsAndExtremesReadBackWhatTheyDump) {
  for (const auto* text : {"correlations: [{name: a, rows: {item.dimension: [warmth, competence]}}]\nextremes: all\n",
                           "correlations: [{name: a, rows: {item: x, item.dimension: y}, columns: {item: [y, z]}, "
                           "method: [kendall, pearson],"
                           " within: clusters, measures: [m]}, {name: b, rows: {item: [x, y]}, method: pearson}]\n",
                           "extremes: {of: {item: [x]}, most: 3, measures: [m]}\n"}) {
    const auto read = read_comparison(text);
    EXPECT_THAT(read.problems, IsEmpty());
    EXPECT_TRUE(read.comparison.asks());
    EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << text;
  }
  const auto read = read_comparison("correlations: [{name: a, rows: {item: [x, y]}, method: kendall}]\n");
  const auto& request = read.comparison.correlations.front();
  EXPECT_THAT(request.methods, ElementsAre(sweep::CorrelationRequest::Method::kendall));
  EXPECT_EQ(request.rows, (std::vector<sweep::Selection>{{"item", {"x", "y"}}}));
  EXPECT_EQ(request.within, sweep::CorrelationRequest::Within::none);
}

TEST(ComparisonMeasures, SaysWhatIsWrongWithCorrelations) {
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"correlations: all\n", "job:1:statistics.correlations"},
           {"correlations: [{name: a}]\n", "job:1:statistics.correlations[0].rows"},
           {"correlations: [{rows: {item: [x, y]}}]\n", "job:1:statistics.correlations[0].name"},
           {"correlations: [{name: a, rows: {item: [x, y]}, method: gamma}]\n", "correlations[0].method"},
           {"correlations: [{name: a, rows: {item: [x, y]}, method: [pearson, pearson]}]\n", "correlations[0].method"},
           {"correlations: [{name: a, rows: {item: [x, y]}, within: cluster}]\n", "Did you mean 'clusters'"},
           {"correlations: [{name: a, rows: {item: [x, y]}}, {name: a, rows: {item: [x, y]}}]\n",
            "a second list of correlations 'a'"},
           {"extremes: some\n", "job:1:statistics.extremes"},
           {"extremes: {most: 0}\n", "job:1:statistics.extremes.most"}}) {
    EXPECT_THAT(read_comparison(text).problems, ElementsAre(HasSubstr(problem))) << text;
  }
}

TEST(ComparisonMeasures, IntersectionsHaveKeysOfTheirOwn) {
  EXPECT_EQ(read_comparison("intersections: all\n").comparison.intersections, sweep::IntersectionQuestions());
  const auto read = read_comparison(
      "intersections: {measures: [a], threshold: 0.2, emergence: 0.5, level: 0.05, known: /none/known.tsv}\n");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_TRUE(read.comparison.asks());
  const auto& questions = read.comparison.intersections.value();
  EXPECT_THAT(questions.measures, ElementsAre("a"));
  EXPECT_EQ(questions.threshold, 0.2);
  EXPECT_EQ(questions.emergence, 0.5);
  EXPECT_EQ(questions.level, 0.05);
  EXPECT_EQ(questions.known, "/none/known.tsv");
  EXPECT_FALSE(read_comparison("means: all\n").comparison.intersections);
}

TEST(ComparisonMeasures, SaysWhatIsWrongWithMeasures) {
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"means: some\n", "job:1:statistics.means"},
           {"means: [ilps]\n", "job:1:statistics.means"},
           {"means: {measure: [ilps], measures: [set]}\n", "Did you mean 'measures'"},
           {"intersections: some\n", "job:1:statistics.intersections"},
           {"intersections: {threshold: 3}\n", "job:1:statistics.intersections.threshold"},
           {"intersections: {threshhold: 0.1}\n", "Did you mean 'threshold'"},
           {"intersections: {level: -1}\n", "job:1:statistics.intersections.level"},
           {"variance_shares: {measures: []}\n", "job:1:statistics.variance_shares.measures"},
           {"variance_shares: {measures: [x, x]}\n", "job:1:statistics.variance_shares.measures"}}) {
    EXPECT_THAT(read_comparison(text).problems, ElementsAre(HasSubstr(problem))) << text;
  }
}

TEST(ComparisonMeasures, ClustersHaveDefaultsAndReadBackWhatTheyDump) {
  const auto plain = read_comparison("clusters: {}\n");
  EXPECT_THAT(plain.problems, IsEmpty());
  EXPECT_EQ(plain.comparison.clusters.value(), sweep::ClusterRequest());
  EXPECT_TRUE(plain.comparison.asks());
  EXPECT_FALSE(read_comparison("means: all\n").comparison.clusters);
  for (const auto* text : {"clusters: {}\n", "clusters: {measures: all}\n", "variation: {measures: all}\n",
                           "clusters: {start: random, restarts: 2000, max_clusters: 4}\n",
                           "clusters: {measures: [a], dimensions: [x, b], number: 5, high_above: 2.5, across: second, "
                           "human_ratings: x}\n"}) {
    const auto read = read_comparison(text);
    EXPECT_THAT(read.problems, IsEmpty());
    EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << text;
  }
}

TEST(ComparisonMeasures, SaysWhatIsWrongWithClusters) {
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"clusters: some\n", "job:1:statistics.clusters"},
           {"clusters: {number: 2.5}\n", "job:1:statistics.clusters.number"},
           {"clusters: {number: 101}\n", "job:1:statistics.clusters.number"},
           {"clusters: {high_above: middle}\n", "job:1:statistics.clusters.high_above"},
           {"clusters: {across: third}\n", "job:1:statistics.clusters.across"},
           {"clusters: {dimensions: some}\n", "job:1:statistics.clusters.dimensions"},
           {"clusters: {dimensions: [x, x]}\n", "job:1:statistics.clusters.dimensions"},
           {"clusters: {restarts: 999}\n", "job:1:statistics.clusters.restarts"},
           {"clusters: {cluster: 3}\n", "job:1:statistics.clusters.cluster"}}) {
    EXPECT_THAT(read_comparison(text).problems, ElementsAre(HasSubstr(problem))) << text;
  }
}

TEST(ComparisonMeasures, DecisionsReadBackWhatTheyDump) {
  for (const auto* text :
       {"decide: {}\n", "decide: {want: [sign, {equivalence: 0.1}, {width: 0.2}], target: product, level: 0.01}\n",
        "decide: {want: [{width: 2}], family: all, plan: {templates: 2, rephrasings: 0, cells: 3}, measures: [a]}\n"}) {
    const auto read = read_comparison(text);
    EXPECT_THAT(read.problems, IsEmpty());
    EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << text;
  }
  const auto read = read_comparison("decide: {want: [{equivalence: 0.1}, sign]}\n").comparison.decide.value();
  EXPECT_TRUE(read.wants_sign());
  EXPECT_EQ(read.margin(), 0.1);
  EXPECT_EQ(read.width(), 0);
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"decide: {want: []}\n", "job:1:statistics.decide.want: nothing is wanted"},
           {"decide: {want: [sign, sign]}\n", "job:1:statistics.decide.want: one thing is wanted twice"},
           {"decide: {want: [{equivalence: 1, width: 1}]}\n", "job:1:statistics.decide.want[0]: several things in one"},
           {"decide: {want: [{equivalence: -1}]}\n", "job:1:statistics.decide.want[0].equivalence"},
           {"decide: {plan: {templates: 0, cells: 0}}\n", "job:1:statistics.decide.plan: no variance"},
           {"decide: {looks: 7}\n", "job:1:statistics.decide.looks"}}) {
    EXPECT_THAT(read_comparison(text).problems, Contains(HasSubstr(problem))) << text;
  }
}

TEST(ComparisonMeasures, VariationAndSecondDifferencesReadBackWhatTheyDump) {
  for (const auto* text :
       {"variation: {}\n", "variation: {over: [template, rephrasing], measures: [a]}\n",
        "contrasts:\n- {name: a, left: {subject: x}, right: rest, minus: {left: {subject: y}, right: {subject: z}}}\n",
        "contrasts:\n- {name: a, each: subject, left: {subject.kind: x}, minus: {left: {subject: y}, right: "
        "zero}}\n"}) {
    const auto read = read_comparison(text);
    EXPECT_THAT(read.problems, IsEmpty());
    EXPECT_TRUE(read.comparison.asks());
    EXPECT_EQ(read_comparison(dumped(read.comparison)).comparison, read.comparison) << text;
  }
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"variation: some\n", "job:1:statistics.variation"},
           {"variation: {over: [order]}\n", "job:1:statistics.variation.over"},
           {"variation: {over: []}\n", "job:1:statistics.variation.over"},
           {"contrasts: [{name: a, left: {subject: x}, minus: {right: {subject: y}}}]\n", "minus.left"},
           {"contrasts: [{name: a, left: {subject: x}, minus: {left: {subject: y}, right: rest}}]\n", "minus.right"}}) {
    EXPECT_THAT(read_comparison(text).problems, ElementsAre(HasSubstr(problem))) << text;
  }
}

}  // namespace
}  // namespace stereosweep::config
