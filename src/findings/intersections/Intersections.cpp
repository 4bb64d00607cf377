#include "findings/intersections/Intersections.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/people/RatingsFile.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

constexpr const char* score_note = "unit: measure_units";
const std::vector<std::string> dominant_names = {"neither", "first", "second", "unknown"};

AxisSchema intersection_axis(const Intersections& all) {
  const auto label = [&](const std::optional<std::size_t>& subject) {
    return subject ? all.subjects.labels[*subject] : std::string();
  };
  const auto domain = [&](const std::optional<std::size_t>& subject) {
    return subject ? all.parts.domains[*subject] : std::string();
  };
  const auto each = [&](auto read) { return base::mapped(all.parts.intersections, read); };
  const auto of_part = [&](std::size_t part, auto read) {
    return each([&](const Intersection& one) { return part < one.parts.size() ? read(one.parts[part]) : ""; });
  };
  AxisSchema axis{
      "intersection", "intersection of groups", each([&](const Intersection& one) { return label(one.subject); }), {}};
  for (std::size_t part = 0; part < all.parts.most(); ++part) {
    const auto& name = sweep::part_names[part];
    axis.coordinates.push_back(
        {name, "subject that is the " + name + " part; empty: it is not scored", of_part(part, label)});
  }
  for (std::size_t part = 0; part < all.parts.most(); ++part) {
    const auto& name = sweep::part_names[part];
    axis.coordinates.push_back({name + "_domain", "domain of the " + name + " part", of_part(part, domain)});
  }
  axis.coordinates.push_back({"reversed", "the parts from the last to the first; empty: it is not scored",
                              each([&](const Intersection& one) { return label(one.reversed); })});
  return axis;
}

AxisSchema comparison_axis(const Intersections& all) {
  return {"order_comparison", "what an intersection is compared with", order_comparisons(all.parts), {}};
}

Finding order_means(const Intersections& all) {
  const auto means = base::joined(all.of_measures, [](const IntersectionsOfMeasure& one) { return one.order.means; });
  Finding found{.name = "order_mean", .axes = {all.measures, comparison_axis(all)}};
  found.add(Role::value, means, "", "1", "mean of order_tau over intersections", &OrderMean::mean);
  found.add(Role::n, means, "n", "1", "intersections with a tau-b", &OrderMean::num_intersections).of = "";
  found.add(Role::value, means, "both", "1", "mean of order_tau over intersections whose other order is scored, too",
            &OrderMean::mean_both_orders);
  found.add(Role::n, means, "both_n", "1", "intersections with a tau-b and both orders", &OrderMean::num_both_orders)
      .of = "both";
  found.views = {{.title = "Order of the items, in ",
                  .columns = table_columns("tau-b of an intersection with: order_comparison, mean:, intersections: n, "
                                           "both orders: both, of these: both_n")}};
  return found;
}

Finding order_taus(const Intersections& all) {
  const auto taus = base::joined(all.of_measures, [](const IntersectionsOfMeasure& one) { return one.order.taus; });
  using stats::Correlation;
  Finding found{.name = "order_tau", .axes = {all.measures, intersection_axis(all), comparison_axis(all)}};
  found
      .add(Role::value, taus, "", "1", "tau-b over items of the intersection's and the other's scores",
           &Correlation::value)
      .note =
      "an item's scores are means over the cells in which both have one; nearer, nearest part: the largest of all "
      "parts'";
  found.add(Role::n, taus, "n", "1", "items with both scores",
            [](const Correlation& tau) { return static_cast<std::int32_t>(tau.n); });
  found.add(Role::status, taus, "status", "", "why there is no tau-b", &Correlation::reason);
  return found;
}

/// The domains of all measures' rows, each pair once.
AxisSchema domain_pairs(const Intersections& all) {
  AxisSchema axis{"domain_pair", "two domains whose groups are crossed", {}, {}};
  axis.coordinates = {{"first", "first domain", {}}, {"second", "second domain", {}}};
  for (const auto& row : base::joined(all.of_measures, &IntersectionsOfMeasure::dominance)) {
    const auto label = row.first + " x " + row.second;
    if (!base::contains(axis.labels, label)) {
      axis.labels.push_back(label);
      axis.coordinates[0].values.push_back(row.first);
      axis.coordinates[1].values.push_back(row.second);
    }
  }
  return axis;
}

/// "age dominates: gender, race; dominated by: politics", where the interval lies beyond zero.
std::vector<Sentence> dominance_sentences(const IntersectionsOfMeasure& of_measure) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> domains;
  for (const auto& row : of_measure.dominance) {
    const bool is_first = row.rule == Dominant::first;
    if (row.rule == row.beyond && (is_first || row.rule == Dominant::second)) {
      domains[is_first ? row.first : row.second].first.push_back(is_first ? row.second : row.first);
      domains[is_first ? row.second : row.first].second.push_back(is_first ? row.first : row.second);
    }
  }
  const auto names = [](const auto& list) { return list.empty() ? std::string("none") : base::join(list, ", "); };
  std::vector<Sentence> sentences;
  for (const auto& [domain, others] : domains) {
    sentences.push_back({of_measure.measure, domain + " dominates: " + names(others.first) + "; dominated by: " +
                                                 names(others.second) + " (" + of_measure.measure + ")"});
  }
  return sentences;
}

Finding dominance(const Intersections& all, const sweep::Comparison& comparison) {
  Finding found{.name = "dominance", .axes = {all.measures, domain_pairs(all)}};
  std::vector<DominanceRow> rows;
  for (const auto& of_measure : all.of_measures) {
    for (const auto& pair : found.axes.back().labels) {
      const auto row = std::ranges::find_if(of_measure.dominance,
                                            [&](const auto& one) { return one.first + " x " + one.second == pair; });
      rows.push_back(row == of_measure.dominance.end() ? DominanceRow() : *row);
    }
    std::ranges::move(dominance_sentences(of_measure), std::back_inserter(found.sentences));
  }
  const auto threshold = base::format_double(comparison.intersections->threshold);
  const RowColumns columns{found, rows};
  const auto add = [&](Role role, const char* name, const std::string& what, const auto& path) -> Column& {
    return columns(role, name, "1", what, path);
  };
  add(Role::value, "difference", "first mean minus second", &DominanceRow::difference).is_difference = true;
  columns.interval({results::percent(comparison.confidence) +
                        " interval over other groups of both domains: Student's t of crossed random effects",
                    "1"});
  add(Role::value, "tau_first", "mean tau-b of the intersections with their part of the first domain",
      &DominanceRow::tau_first);
  add(Role::value, "tau_second", "mean tau-b of the intersections with their part of the second domain",
      &DominanceRow::tau_second);
  add(Role::n, "num_intersections", "intersections with both tau-b, either order", &DominanceRow::num_intersections);
  add(Role::n, "num_first", "their groups of the first domain", &DominanceRow::num_first);
  add(Role::n, "num_second", "their groups of the second domain", &DominanceRow::num_second);
  add(Role::status, "status", "why there is no interval", &DominanceRow::reason);
  found.add_flags(Role::value, rows, "", "domain that dominates: its mean is larger by at least " + threshold,
                  dominant_names, &DominanceRow::rule);
  found.add_flags(Role::value, rows, "beyond_zero", "domain on whose side of zero the interval lies", dominant_names,
                  &DominanceRow::beyond);
  const auto claim = [](const DominanceRow& row) {
    const bool is_beyond = row.rule == row.beyond && (row.rule == Dominant::first || row.rule == Dominant::second);
    const bool is_first = row.rule == Dominant::first;
    return is_beyond ? (is_first ? row.first : row.second) + " dominates " + (is_first ? row.second : row.first) : "";
  };
  found.question = {{base::mapped(rows, claim), "difference", "intersection", "difference of tau-b"}};
  found.views = {
      {.title = "Which domain's part an intersection is like, in ",
       .columns = table_columns("domains: domain_pair, tau-b first: tau_first, tau-b second: tau_second, difference, "
                                "low, high, n: num_intersections, larger:, beyond zero: beyond_zero"),
       .by = "-difference"}};
  found.notes = "larger: whose mean tau-b is larger by at least " + threshold +
                "; low, high: " + results::percent(comparison.confidence) +
                " interval over other groups of both domains, these templates taken as given: few of them make every "
                "tau-b, and so the difference, smaller than many would.";
  return found;
}

/// NaN: not beyond all parts, or no score.
double beyond_parts(const EmergenceRow& row) {
  return row.side() > 0 ? row.emerge_max : row.side() < 0 ? row.emerge_min : stats::nan;
}

void add_cells(Finding& found, const std::vector<EmergenceRow>& rows, stats::CellsTest EmergenceRow::*test) {
  const RowColumns add{found, rows};
  add(Role::n, "num_templates", "1", "templates with a common cell", &EmergenceRow::num_templates);
  add(Role::n, "num_cells", "1", "(template, rephrasing) that intersection and parts have", &EmergenceRow::num_cells);
  add(Role::n, "degrees", "1", "degrees of freedom of p", test, &stats::CellsTest::degrees);
  add(Role::status, "status", "", "why there is no p", test, &stats::CellsTest::reason);
  if (std::ranges::any_of(rows, [&](const auto& row) { return (row.*test).degrees < 2; })) {
    found.warnings.push_back(few_degrees_text(found.variable("degrees")));
  }
}

void add_score(Finding& found, const std::vector<EmergenceRow>& rows, const std::string& name, const std::string& what,
               auto field) {
  found.add(Role::value, rows, name, "", what, field).note = score_note;
}

/// "women x nurses: the score of liberal is above each part's"; rows of [measure, intersection, item].
template <class Where>
std::vector<std::string> claims_of(const Intersections& all, const std::vector<std::string>& items,
                                   const std::vector<EmergenceRow>& rows, const Where& where) {
  std::vector<std::string> claims;
  for (const auto& row : rows) {
    const auto& one = all.parts.intersections[claims.size() / items.size() % all.parts.intersections.size()];
    const auto& item = items[claims.size() % items.size()];
    const std::string side = where(row);
    claims.push_back(side.empty() ? "" : all.subjects.labels[one.subject] + ": the score of " + item + " is " + side);
  }
  return claims;
}

Finding emergence(const Intersections& all, const std::vector<EmergenceRow>& rows, const std::string& prefix,
                  const AxisSchema& items) {
  Finding found{.name = prefix + "emerge", .axes = {all.measures, intersection_axis(all), items}};
  const RowColumns add{found, rows};
  add(Role::value, "beyond", "", "emerge_max above all parts, emerge_min below all; none: no value", &beyond_parts);
  add(Role::p, "p", "1",
      "two-sided p of a score beyond each part's, over other templates and rephrasings; 1: it is not",
      &EmergenceRow::beyond, &stats::CellsTest::p);
  add(Role::adjusted, "p_holm", "1", "emerge_p after Holm over all rows of the measure", &EmergenceRow::p_holm);
  add_cells(found, rows, &EmergenceRow::beyond);
  add_score(found, rows, "score", "mean of the intersection over the common cells", &EmergenceRow::score);
  std::string heads;
  for (std::size_t part = 0; part < all.parts.most(); ++part) {
    const auto& name = sweep::part_names[part];
    add_score(found, rows, name, "mean of its " + name + " part over the common cells",
              [part](const EmergenceRow& row) { return row.parts[part]; });
    heads += ", " + name;
  }
  add_score(found, rows, "max", "score minus the largest part's", &EmergenceRow::emerge_max);
  add_score(found, rows, "min", "score minus the smallest part's", &EmergenceRow::emerge_min);
  const auto side = [](const EmergenceRow& row) {
    return row.side() == 0 ? "" : row.side() > 0 ? "above each part's" : "below each part's";
  };
  found.question = {{claims_of(all, items.labels, rows, side), "beyond", "template", "difference"}};
  found.question->nothing = "emergent trait";
  found.views = {{.title = "Scores beyond each part's, in ",
                  .columns = table_columns("intersection, trait: " + items.name + ", score" + heads +
                                           ", beyond the parts: beyond, templates: num_templates, p, p Holm: p_holm"),
                  .by = "p",
                  .only = "beyond",
                  .none = "none"}};
  return found;
}

Finding interaction(const Intersections& all, const std::vector<EmergenceRow>& rows, const std::string& prefix,
                    const AxisSchema& items, double confidence) {
  Finding found{.name = prefix + "interaction", .axes = {all.measures, intersection_axis(all), items}};
  add_score(found, rows, "",
            all.parts.baseline ? "score minus all parts', plus the baseline's for each part but the first"
                               : "score minus all parts', taken to be 0 where no group is named",
            &EmergenceRow::interaction);
  const RowColumns add{found, rows};
  const auto test = &EmergenceRow::interaction_test;
  add.interval(
      {.what = results::percent(confidence) + " interval over other templates and rephrasings", .note = score_note},
      test);
  add(Role::p, "p", "1", "two-sided p over other templates and rephrasings: t of the interval's variance", test,
      &stats::CellsTest::p);
  add(Role::adjusted, "p_holm", "1", "interaction_p after Holm over all rows of the measure",
      &EmergenceRow::interaction_p_holm);
  add_cells(found, rows, test);
  const auto side = [](const EmergenceRow& row) {
    return row.interaction > 0 ? "above the sum of the parts'" : "below the sum of the parts'";
  };
  found.question = {{claims_of(all, items.labels, rows, side), "", "template", "difference"}};
  found.question->nothing = "interaction";
  found.views = {{.title = "Scores beyond the sum of the parts', in ",
                  .columns = table_columns("intersection, item: " + items.name +
                                           ", beyond the sum:, low, high, templates: num_templates, p, p Holm: p_holm"),
                  .by = "p",
                  .only = "p",
                  .none = "none"}};
  return found;
}

Finding known(const Intersections& all, const sweep::IntersectionQuestions& questions) {
  std::vector<KnownCounts> counts;
  for (const auto& of_measure : all.of_measures) {
    counts.insert(counts.end(), {of_measure.known_items, of_measure.known_poles});
  }
  Finding found{
      .name = "known",
      .axes = {all.measures, {"known_kind", "what the table of known stereotypes names", {"item", "pole"}, {}}}};
  const auto add = [&](Role role, const char* name, const char* what, auto read) {
    found.add(role, counts, name, "1", what, read);
  };
  add(Role::value, "precision", "hits / predicted", &KnownCounts::precision);
  add(Role::value, "recall", "hits / known stereotypes", &KnownCounts::recall);
  add(Role::value, "prevalence", "known stereotypes / universe: precision of always saying yes, whose recall is 1",
      &KnownCounts::prevalence);
  found
      .add(Role::n, counts, "universe", "1", "named intersections x named items x (higher, lower) with a score",
           &KnownCounts::num_universe)
      .note = "table: " + all.known_source;
  add(Role::n, "unscored", "of the universe, without a score: counted nowhere else", &KnownCounts::num_unscored);
  add(Role::n, "stereotypes", "known stereotypes in the universe", &KnownCounts::num_known);
  add(Role::n, "predicted", "emergent traits in the universe", &KnownCounts::num_predicted);
  add(Role::n, "hits", "emergent traits that are known", &KnownCounts::num_hits);
  found.views = {{.title = "Known stereotypes that emerge, in ",
                  .columns = table_columns("of: known_kind, precision, recall, always yes: prevalence, universe, "
                                           "known: stereotypes, predicted, hits, unscored")}};
  const auto level = questions.level < 1 ? " and p at most " + base::format_double(questions.level) : "";
  found.notes = "predicted: beyond each part's by more than " + base::format_double(questions.emergence) + level +
                ". universe: intersections x items that the table names, higher and lower. always yes: precision of "
                "predicting all of it, with recall 1 (the share that is known). " +
                all.known_source;
  return found;
}

std::string test_notes(const Intersections& all) {
  const auto num_apart =
      std::ranges::count_if(all.parts.intersections, [](const auto& one) { return !one.has_parts(); });
  return std::string(
             "beyond the parts: over the largest part's score, or under the smallest's; its p is the largest of the "
             "parts'. "
             "p, low, high: Student's t over other templates and rephrasings, on the cells that all of a row have; p "
             "Holm: adjusted among all intersections and items of the measure. Beyond the sum: the score where no "
             "group is named is ") +
         (all.parts.baseline ? "the baseline's." : "taken to be 0.") +
         (num_apart > 0 ? " " + base::counted(static_cast<std::uint64_t>(num_apart), "intersection") +
                              " left out: a part is not scored by itself."
                        : "");
}

}  // namespace

Intersections intersections_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto& questions = *comparison.intersections;
  const auto measures = chosen_measures(scores, questions.measures, "statistics.intersections");
  Intersections all{
      .measures = measure_axis_of(scores, measures, "intersection_measure"),
      .subjects = *scores.axes[subject_axis],
      .items = scores.axes[item_axis]->labels,
      .poles = scores.poles == nullptr ? std::vector<std::string>() : scores.poles->axes[item_axis]->labels,
      .parts = parts_of(*scores.axes[subject_axis]),
      .known_source = {},
      .of_measures = {}};
  KnownTable known;
  if (!questions.known.empty()) {
    known = read_known_traits(questions.known, scores, all.parts);
    all.known_source = source_of_ratings(questions.known);
  }
  for (const auto measure : measures) {
    auto& of_measure = all.of_measures.emplace_back();
    of_measure.measure = scores.axes[measure_axis]->labels[measure];
    const auto values = scores.read(measure);
    const Cells items(scores, values);
    of_measure.order = order_of(items, all.parts, scores.ranks);
    of_measure.dominance = dominance_of(of_measure.order, all.parts, comparison);
    of_measure.items = emergence_of(items, ends_of(*scores.axes[measure_axis], measure), all.parts,
                                    comparison.confidence, scores.ranks);
    of_measure.known_items = count_known(of_measure.items, all.items.size(), known.items, questions);
    if (scores.poles != nullptr) {
      const auto of_poles = scores.poles->read(measure);
      of_measure.poles =
          emergence_of(Cells(*scores.poles, of_poles), {}, all.parts, comparison.confidence, scores.ranks);
      of_measure.known_poles = count_known(of_measure.poles, all.poles.size(), known.poles, questions);
    }
  }
  return all;
}

std::vector<Finding> findings_of(const Intersections& all, const sweep::Comparison& comparison) {
  std::vector<Finding> found;
  if (!comparison.intersections->known.empty()) {
    found.push_back(known(all, *comparison.intersections));
  }
  found.push_back(order_means(all));
  found.push_back(order_taus(all));
  if (!base::joined(all.of_measures, &IntersectionsOfMeasure::dominance).empty()) {
    found.push_back(dominance(all, comparison));
  }
  const AxisSchema items{"item", "", all.items, {}};
  const auto rows = base::joined(all.of_measures, &IntersectionsOfMeasure::items);
  found.push_back(emergence(all, rows, "", items));
  if (!all.poles.empty()) {
    const AxisSchema poles{"pole", "", all.poles, {}};
    const auto pole_rows = base::joined(all.of_measures, &IntersectionsOfMeasure::poles);
    found.back().question.reset();
    found.back().views.clear();  // items are differences of poles: one table of emergent scores is enough
    found.push_back(emergence(all, pole_rows, "pole_", poles));
    found.push_back(interaction(all, pole_rows, "pole_", poles, comparison.confidence));
    found.back().question.reset();
    found.back().views.clear();
  }
  found.push_back(interaction(all, rows, "", items, comparison.confidence));
  found.back().notes = test_notes(all);
  return found;
}

}  // namespace stereosweep::findings
