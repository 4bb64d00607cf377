#include "config/statistics/ComparisonReader.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/text/Text.hpp"
#include "config/axes/Selections.hpp"
#include "config/statistics/CorrelationReader.hpp"
#include "config/statistics/PeopleReader.hpp"

namespace stereosweep::config {
namespace {

using sweep::Comparison;
using sweep::Contrast;

constexpr const char* side_form = "{subject: LABEL, template.COORDINATE: [VALUE, VALUE]}";
const std::vector<std::string> family_names = {"contrast", "measure", "all"};
const std::vector<std::string> start_names = {"plus_plus", "random"};
const std::vector<std::string> across_names = {"none", "first", "second"};
constexpr std::int64_t most_clusters = 100;

/// `right` is a side, or one of these words, which stand in the order of Against behind `selected`; zero where it is
/// missing.
template <class Difference>
void read_right(const Node* node, const std::string& key, const std::vector<std::string>& words,
                base::Problems& problems, Difference& difference) {
  difference.against = Contrast::Against::zero;
  if (node == nullptr) {
    return;
  }
  if (node->kind == Node::Kind::map) {
    difference.against = Contrast::Against::selected;
    difference.right = read_selections(*node, key, problems);
  } else if (const auto word = read_choice(*node, key, problems, words)) {
    difference.against = *word == 0 ? Contrast::Against::zero : Contrast::Against::rest;
  }
}

Contrast::Minus read_minus(const Node& node, const std::string& key, base::Problems& problems) {
  Contrast::Minus minus;
  Fields fields(node, key, problems, "{left: {...}, right: {...}}");
  if (const Node* left = fields.required("left")) {
    minus.left = read_selections(*left, fields.key_of("left"), problems);
  }
  read_right(fields.optional("right"), fields.key_of("right"), {"zero"}, problems, minus);
  fields.finish();
  return minus;
}

Contrast read_contrast(const Node& node, const std::string& key, base::Problems& problems) {
  Contrast contrast;
  Fields fields(node, key, problems, "{name: ..., left: {subject: ...}, right: {subject: ...}}");
  fields.required_line("name", contrast.name);
  const Node* left = fields.optional("left");
  if (left != nullptr) {
    contrast.left = read_selections(*left, fields.key_of("left"), problems);
  }
  read_right(fields.optional("right"), fields.key_of("right"), {"zero", "rest"}, problems, contrast);
  fields.line("each", contrast.each);
  fields.line("paired", contrast.paired);
  read_labels(fields, "measures", problems, contrast.measures);
  fields.choice("cells", contrast.cells, Contrast::cells_names);
  if (const Node* minus = fields.optional("minus")) {
    contrast.minus = read_minus(*minus, fields.key_of("minus"), problems);
  }
  fields.finish();
  const bool selects = left != nullptr && (left->kind != Node::Kind::map || !left->children.empty());
  if (fields.usable() && !selects && fields.optional("each") == nullptr) {
    problems.add(node.place(key), "nothing is selected on the left", "a contrast needs a label there, or 'each'",
                 std::string("Give 'left: ") + side_form + "' or 'each: AXIS'.");
  }
  return contrast;
}

template <class Visitor, class Value>
void visit_inference(Value& comparison, Visitor& visit) {
  visit.choice("family", comparison.family, family_names);
  visit.number("confidence", comparison.confidence, 0.5, 0.9999);
  visit.integer("replicates", comparison.replicates, 100, 1'000'000);
  visit.integer("draws", comparison.draws, 100, 100'000'000);
}

template <class Visitor, class Value>
void visit_clusters(Value& clusters, Visitor& visit) {
  visit.line("number", clusters.number);
  visit.choice("start", clusters.start, start_names);
  visit.integer("restarts", clusters.restarts, 1000, 10'000'000);
  visit.integer("max_clusters", clusters.max_clusters, 1, most_clusters);
  visit.line("human_ratings", clusters.human_ratings);
  visit.line("high_above", clusters.high_above);
  visit.choice("across", clusters.across, across_names);
}

sweep::ClusterRequest read_clusters(const Node& node, const std::string& key, const Pieces& pieces,
                                    base::Problems& problems) {
  sweep::ClusterRequest clusters;
  Fields fields(node, key, problems);
  read_labels(fields, "measures", problems, clusters.measures);
  read_labels(fields, "dimensions", problems, clusters.dimensions);
  visit_clusters(clusters, fields);
  if (!clusters.human_ratings.empty()) {
    clusters.human_ratings = pieces.resolve_path(clusters.human_ratings);
  }
  fields.finish();
  const auto place = [&](const char* name) {
    const Node* found = fields.optional(name);
    return (found == nullptr ? node : *found).place(fields.key_of(name));
  };
  const auto number = base::parse_double(clusters.number);
  if (clusters.number != "elbow" &&
      !(number && *number >= 1 && *number <= most_clusters && *number == std::floor(*number))) {
    problems.add(place("number"), "'" + clusters.number.substr(0, 40) + "' is no number of clusters",
                 "elbow or a whole number from 1 to " + std::to_string(most_clusters) + " is expected");
  }
  const auto& limit = clusters.high_above;
  if (limit != "mean" && limit != "median" && !base::parse_double(limit)) {
    problems.add(place("high_above"), "'" + limit.substr(0, 40) + "' parts nothing into high and low",
                 "mean, median or a number is expected");
  }
  return clusters;
}

sweep::VariationRequest read_variation(const Node& node, const std::string& key, base::Problems& problems) {
  sweep::VariationRequest variation;
  Fields fields(node, key, problems);
  if (const Node* over = fields.optional("over")) {
    variation.over.clear();
    const auto& names = sweep::VariationRequest::over_names;
    for (const auto place : read_choices(*over, fields.key_of("over"), problems, names, Choices::distinct)) {
      variation.over.push_back(static_cast<sweep::VariationRequest::Over>(place));
    }
  }
  read_labels(fields, "measures", problems, variation.measures);
  fields.finish();
  return variation;
}

/// The word `all`, or fields that `read` reads. Returns whether the key is there.
template <class Read>
bool read_all_or(Fields& statistics, const std::string& name, const char* form, const Read& read) {
  const Node* node = statistics.optional(name);
  if (node == nullptr) {
    return false;
  }
  const auto key = statistics.key_of(name);
  if (node->kind == Node::Kind::scalar) {
    read_choice(*node, key, statistics.problems(), std::vector<std::string>{"all"});
    return true;
  }
  Fields fields(*node, key, statistics.problems(), form);
  read(fields);
  fields.finish();
  return true;
}

Comparison::Measures read_measures(Fields& statistics, const std::string& name) {
  std::vector<std::string> labels;
  const bool is_there = read_all_or(statistics, name, "{measures: [LABEL, LABEL]} or all",
                                    [&](Fields& fields) { fields.required_lines("measures", labels); });
  return is_there ? std::optional(labels) : std::nullopt;
}

void dump_measures(const std::string& name, const Comparison::Measures& measures, FieldsDump& statistics) {
  if (measures) {
    FieldsDump fields;
    fields.add("measures", dump_labels(*measures));
    statistics.add(name, measures->empty() ? Node::plain("all") : fields.take());
  }
}

template <class Visitor, class Value>
void visit_intersections(Value& questions, Visitor& visit) {
  visit.number("threshold", questions.threshold, 0, 2);
  visit.number("emergence", questions.emergence, 0, 1e9);
  visit.number("level", questions.level, 0, 1);
}

std::optional<sweep::IntersectionQuestions> read_intersection_questions(Fields& statistics) {
  sweep::IntersectionQuestions questions;
  const bool is_there = read_all_or(
      statistics, "intersections", "{measures: [LABEL, LABEL], threshold: 0.1} or all", [&](Fields& fields) {
        read_labels(fields, "measures", statistics.problems(), questions.measures);
        visit_intersections(questions, fields);
        fields.line("known", questions.known);
        questions.known = questions.known.empty() ? "" : statistics.pieces().resolve_path(questions.known);
      });
  return is_there ? std::optional(questions) : std::nullopt;
}

Node dump_intersections(const sweep::IntersectionQuestions& questions) {
  if (questions == sweep::IntersectionQuestions()) {
    return Node::plain("all");
  }
  FieldsDump fields;
  if (!questions.measures.empty()) {
    fields.required_lines("measures", questions.measures);
  }
  visit_intersections(questions, fields);
  fields.line("known", questions.known);
  return fields.take();
}

template <class Difference>
void dump_sides(const Difference& difference, FieldsDump& fields) {
  fields.add("left", dump_selections(difference.left));
  switch (difference.against) {
    case Contrast::Against::selected:
      fields.add("right", dump_selections(difference.right));
      break;
    case Contrast::Against::zero:
      fields.add("right", Node::plain("zero"));
      break;
    case Contrast::Against::rest:
      fields.add("right", Node::plain("rest"));
      break;
  }
}

Node dump_contrast(const Contrast& contrast) {
  FieldsDump fields;
  fields.line("name", contrast.name);
  dump_sides(contrast, fields);
  fields.line("each", contrast.each);
  fields.line("paired", contrast.paired);
  if (!contrast.measures.empty()) {
    fields.required_lines("measures", contrast.measures);
  }
  if (contrast.cells != Contrast::Cells::adjusted) {
    fields.choice("cells", contrast.cells, Contrast::cells_names);
  }
  if (contrast.minus) {
    FieldsDump minus;
    dump_sides(*contrast.minus, minus);
    fields.add("minus", minus.take());
  }
  return fields.take();
}

base::Json contrast_schema() {
  const auto side = [](const std::vector<std::string>& words) {
    return either_schema({choice_schema(words), selections_schema()});
  };
  FieldsSchema minus;
  minus.needed().selections("left", {});
  minus.add("right", side({"zero"}));
  FieldsSchema keys;
  keys.required_line("name", "");
  keys.selections("left", {}, side_form);
  keys.add("right", side({"zero", "rest"}), "a side, zero (the default), or rest: all other subjects");
  keys.line("each", "", "one contrast for every label of this axis or coordinate");
  keys.line("paired", "", "templates with one value of this coordinate are a pair");
  keys.labels("measures", {});
  keys.add("minus", minus.take(), "a second difference that is taken from the first");
  return keys.take();
}

}  // namespace

void comparison_keys(Fields& statistics, Comparison& comparison) {
  base::Problems& problems = statistics.problems();
  if (const Node* list = statistics.optional("contrasts")) {
    std::vector<std::string> names;
    each_entry(*list, "statistics.contrasts", problems, [&](const Node& node, const std::string& key) {
      comparison.contrasts.push_back(read_contrast(node, key, problems));
      const auto& name = comparison.contrasts.back().name;
      if (!name.empty() && std::ranges::find(names, name) != names.end()) {
        problems.add(node.place(key), "a second contrast '" + name + "'", "rows are told apart by their names");
      }
      names.push_back(name);
    });
  }
  comparison.means = read_measures(statistics, "means");
  comparison.variance = read_measures(statistics, "variance_shares");
  comparison.intersections = read_intersection_questions(statistics);
  if (const Node* node = statistics.optional("clusters")) {
    comparison.clusters = read_clusters(*node, "statistics.clusters", statistics.pieces(), problems);
  }
  if (const Node* node = statistics.optional("variation")) {
    comparison.variation = read_variation(*node, "statistics.variation", problems);
  }
  if (const Node* node = statistics.optional("people")) {
    comparison.people = read_people(*node, statistics.pieces(), problems);
  }
  if (const Node* node = statistics.optional("correlations")) {
    comparison.correlations = read_correlations(*node, problems);
  }
  if (const Node* node = statistics.optional("extremes")) {
    comparison.extremes = read_extremes(*node, problems);
  }
  statistics.nested("inference", [&](Fields& fields) { visit_inference(comparison, fields); });
}

void comparison_keys(FieldsDump& statistics, const Comparison& comparison) {
  if (comparison == Comparison()) {
    return;  // dumps of older runs stay what they were
  }
  if (!comparison.contrasts.empty()) {
    statistics.add("contrasts", list_of(comparison.contrasts, dump_contrast));
  }
  dump_measures("means", comparison.means, statistics);
  dump_measures("variance_shares", comparison.variance, statistics);
  if (comparison.intersections) {
    statistics.add("intersections", dump_intersections(*comparison.intersections));
  }
  if (comparison.clusters) {
    FieldsDump clusters;
    clusters.add("measures", dump_labels(comparison.clusters->measures));
    clusters.add("dimensions", dump_labels(comparison.clusters->dimensions));
    visit_clusters(*comparison.clusters, clusters);
    statistics.add("clusters", clusters.take());
  }
  if (comparison.variation) {
    Node map = Node::map();
    map.add("over", choice_list(comparison.variation->over, sweep::VariationRequest::over_names));
    if (!comparison.variation->measures.empty()) {
      map.add("measures", texts(comparison.variation->measures));
    }
    statistics.add("variation", std::move(map));
  }
  if (comparison.people) {
    statistics.add("people", dump_people(*comparison.people));
  }
  if (!comparison.correlations.empty()) {
    statistics.add("correlations", dump_correlations(comparison.correlations));
  }
  if (comparison.extremes) {
    statistics.add("extremes", dump_extremes(*comparison.extremes));
  }
  FieldsDump fields;
  visit_inference(comparison, fields);
  statistics.add("inference", fields.take());
}

void comparison_keys(FieldsSchema& statistics, const Comparison& comparison) {
  FieldsSchema measures;
  measures.required_lines("measures", {});
  const auto all_or_measures = either_schema({choice_schema({"all"}), measures.take()});
  statistics.add("contrasts", list_schema(contrast_schema(), Emptiness::allowed), "differences that are tested");
  statistics.add("means", all_or_measures, "of every subject and item, with intervals");
  statistics.add("variance_shares", all_or_measures, "by subject, item, template, ...");
  FieldsSchema intersections;
  const sweep::IntersectionQuestions questions;
  intersections.labels("measures", questions.measures);
  visit_intersections(questions, intersections);
  intersections.path("known", questions.known, "a table of words that are known to emerge");
  statistics.add("intersections", either_schema({choice_schema({"all"}), intersections.take()}),
                 "what an intersection has of its groups");
  statistics.nested(
      "clusters",
      [](FieldsSchema& fields) {
        const sweep::ClusterRequest clusters;
        fields.labels("measures", clusters.measures);
        fields.labels("dimensions", clusters.dimensions);
        visit_clusters(clusters, fields);
      },
      "k-means of the subjects");
  statistics.nested(
      "variation",
      [](FieldsSchema& fields) {
        const sweep::VariationRequest variation;
        fields.choices("over", variation.over, sweep::VariationRequest::over_names);
        fields.labels("measures", variation.measures);
      },
      "coefficients of variation");
  statistics.add("people", people_schema(), "agreement with people's answers");
  statistics.add("correlations", list_schema(correlation_schema(), Emptiness::allowed), "of items over subjects");
  statistics.add("extremes", extremes_schema(), "the subjects with the highest and the lowest means");
  statistics.nested(
      "inference", [&](FieldsSchema& fields) { visit_inference(comparison, fields); }, "of every test and interval");
}

}  // namespace stereosweep::config
