#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/People.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

using Cell = PeopleCell;

/// "annotators (within each subject), templates"; "" where nothing is drawn.
std::string drawn_words(const BootstrapSettings& bootstrap) {
  std::vector<std::string> words;
  for (const auto& [is_drawn, word] :
       {std::pair(bootstrap.draws_annotators, "annotators (within each subject)"),
        std::pair(bootstrap.draws_templates, "templates"), std::pair(bootstrap.draws_rephrasings, "rephrasings")}) {
    if (is_drawn) {
      words.emplace_back(word);
    }
  }
  return base::join(words, ", ");
}

results::AxisSchema row_axis(const PeopleAgreement& people) {
  const auto kind_of = [](const PeopleRow& row) {
    const std::array<std::string, 3> kinds = {"pooled", "dimension", "subject"};
    return kinds.at(static_cast<std::size_t>(row.kind));
  };
  const auto label_of = [&](const PeopleRow& row) {
    return row.kind == PeopleRow::Kind::pooled ? row.name : kind_of(row) + ": " + row.name;
  };
  return {"people_row",
          "which cells: all, of one dimension of items, of one subject",
          base::mapped(people.rows, label_of),
          {{"kind", "pooled, dimension or subject", base::mapped(people.rows, kind_of)},
           {"name", "of the dimension or subject", base::mapped(people.rows, &PeopleRow::name)}}};
}

results::AxisSchema group_axis(const PeopleAgreement& people) {
  return {"people_group", "whose answers", people.groups, {}};
}

/// p values of tau, and what they assume.
void add_p(const RowColumns<Cell>& columns, const PeopleAgreement& people) {
  const auto draws = base::with_thousands(people.shuffles.draws) +
                     " seeded draws: 2 (b + 1) / (draws + 1), b: the fewer of those whose tau-b is at least, or at "
                     "most, this one";
  const auto add = [&](Role role, const std::string& name, const char* of, const std::string& what,
                       const auto&... path) {
    auto& column = columns(role, "tau_p_" + name, "1", what, path...);
    column.of = of;
    column.note = draws;
  };
  const auto add_shuffled = [&](const char* name, const std::string& moved, stats::Value ShuffledP::*which) {
    add(Role::p, name, "tau", "two-sided p of people_tau: " + moved, &Cell::shuffled, which, &stats::Value::value);
  };
  add(Role::p, "cite", "tau",
      "two-sided p of people_tau to cite: the larger one of items shuffled (within dimensions where there is such a p) "
      "and of subjects (within domains)",
      &Cell::shuffled, &ShuffledP::cited);
  add(Role::adjusted, "holm", "tau", "people_tau_p_cite adjusted among the rows of its kind (Holm)", &Cell::p_holm);
  add_shuffled("items", "items shuffled, the same way in every subject", &ShuffledP::items);
  add_shuffled("subjects", "subjects shuffled", &ShuffledP::subjects);
  add_shuffled("dimensions", "items shuffled within their dimensions, and whole dimensions of one size",
               &ShuffledP::dimensions);
  add_shuffled("domains", "subjects shuffled within their domains, and whole domains of one size", &ShuffledP::domains);
  add(Role::low, "smallest", "tau_p_cite", "no people_tau_p_cite can be smaller with so many items and subjects",
      &Cell::shuffled, &ShuffledP::smallest);
  columns(Role::p, "tau_p_cells", "1", "two-sided p of people_tau; assumes independent cells", &Cell::agreement,
          &Agreement::tau, &stats::Correlation::p)
      .note = "too small where the cells of an item, or of a subject, move together: prefer people_tau_p_cite";
}

void add_columns(Finding& finding, const PeopleAgreement& people, double confidence) {
  const RowColumns columns{finding, people.cells};
  const auto add = [&](Role role, const char* name, const std::string& what, const auto&... path) -> Column& {
    return columns(role, name, "1", what, path...);
  };
  using stats::Correlation;
  using stats::Precision;
  using stats::Value;
  const auto agreement = &Cell::agreement;
  add(Role::value, "tau", "Kendall's tau-b of scores and people's means", agreement, &Agreement::tau,
      &Correlation::value);
  columns.interval({.what = results::percent(confidence) + " interval of the mean people_tau of other draws of as many",
                    .unit = "1",
                    .prefix = "tau_",
                    .note = drawn_words(people.bootstrap) + " drawn with replacement, " +
                            base::with_thousands(people.bootstrap.replicates) +
                            " replicates that vary as the means do; their percentiles, centred at people_tau"},
                   &Cell::interval);
  add(Role::n, "n", "cells that are rated and scored", agreement, &Agreement::tau, &Correlation::n);
  add(Role::status, "status", "why people_tau does not exist", agreement, &Agreement::tau, &Correlation::reason);
  add(Role::status, "interval_status", "why the interval does not exist", &Cell::interval, &stats::Interval::reason)
      .of = "tau";
  add_p(columns, people);
  add(Role::value, "tau_bias", "mean of people_tau over the replicates, minus people_tau", &Cell::bias).note =
      "by so much the noise of means of so few annotators or templates lowers a tau-b of this size";
  add(Role::value, "tau_mean", "mean of the subjects' own tau-b; not the same as people_tau", agreement,
      &TableAgreement::mean_tau, &Value::value);
  const auto add_correlation = [&](const std::string& name, const std::string& what, Correlation Agreement::*which) {
    columns(Role::value, name, "1", what, agreement, which, &Correlation::value);
    columns(Role::p, name + "_p_cells", "1", "two-sided p of people_" + name + "; assumes independent cells", agreement,
            which, &Correlation::p)
        .of = name;
  };
  add_correlation("pearson", "Pearson's r", &Agreement::pearson);
  add_correlation("spearman", "Spearman's rho", &Agreement::spearman);
  const auto precision = &Agreement::precision;
  add(Role::value, "precision_at_3", "mean of people_precision_top_3 and people_precision_bottom_3", agreement,
      precision, &Precision::mean, &Value::value)
      .note = "equal scores: the earlier item first; a rating at the scale's middle counts for neither pole";
  add(Role::value, "precision_top_3", "share of the three highest scores rated above the middle; mean over subjects",
      agreement, precision, &Precision::top, &Value::value);
  add(Role::value, "precision_bottom_3", "share of the three lowest scores rated below the middle; mean over subjects",
      agreement, precision, &Precision::bottom, &Value::value);
  add(Role::value, "precision_at_3_chance", "people_precision_at_3 of scores in random order", agreement, precision,
      &Precision::chance, &Value::value);
}

/// Which question each number answers.
std::string notes_of(const PeopleAgreement& people, double confidence) {
  const auto drawn = drawn_words(people.bootstrap);
  return (drawn.empty() ? std::string("No interval: there is nothing to draw.")
                        : "low, high: " + results::percent(confidence) + " interval, " + drawn +
                              " drawn with replacement: the mean tau-b of other draws of as many.") +
         " p cite: two-sided, the larger of two: items shuffled (the same way in every subject; within their "
         "dimensions, where they have any) and subjects shuffled (within their domains), " +
         base::with_thousands(people.shuffles.draws) +
         " draws each. p Holm: adjusted among the rows of one kind. P@3: mean over subjects; chance: P@3 of scores in "
         "random order.";
}

std::vector<std::string> warnings_of(const PeopleAgreement& people) {
  constexpr double much = 0.05;  // of tau
  std::vector<std::string> warnings;
  std::vector<std::string> noisy;
  double smallest = 0;
  bool has_small_blocks = false;
  for (std::size_t measure = 0; measure < people.measures.size(); ++measure) {
    const auto& cell = people.cell(measure, 0, 0);  // all annotators, all cells
    if (std::abs(cell.bias) > much * std::abs(cell.agreement.tau.value)) {
      noisy.push_back(people.measure_axis.labels[measure]);
    }
    smallest = std::fmax(smallest, cell.shuffled.smallest);
    const auto lacks = [](const stats::Value& within, const stats::Value& free) {
      return free.defined() && !within.defined();
    };
    has_small_blocks = has_small_blocks || lacks(cell.shuffled.dimensions, cell.shuffled.items) ||
                       lacks(cell.shuffled.domains, cell.shuffled.subjects);
  }
  if (people.num_subjects < few_subjects) {
    warnings.push_back(few_subjects_warning(people.measures.size(), people.measures.size()));
  }
  if (smallest > ShuffledP::level / 5) {
    warnings.push_back("With so few items or subjects no p of the pooled tau-b (people_tau_p_cite) is below " +
                       results::p_value(smallest) + ".");
  }
  if (has_small_blocks) {
    warnings.emplace_back(
        "Items have no dimensions, or subjects no domains, or too few to be shuffled: p cite then allows for items "
        "(subjects) that move together in all subjects (items), not for groups of them.");
  }
  if (!noisy.empty()) {
    warnings.push_back("Noise lowers tau-b by more than a twentieth (people_tau_bias) in " +
                       results::first_names(noisy, 3) +
                       ": endless annotators and templates would agree more than the interval says.");
  }
  return warnings;
}

Finding rows_finding(const PeopleAgreement& people, const sweep::Comparison& comparison) {
  Finding finding{.name = "people",
                  .axes = {people.measure_axis, group_axis(people), row_axis(people)},
                  .notes = notes_of(people, comparison.confidence),
                  .warnings = warnings_of(people)};
  add_columns(finding, people, comparison.confidence);
  finding.views = {{"Agreement with people: ",
                    table_columns("cells: name, tau-b: tau, low: tau_low, high: tau_high, p cite: tau_p_cite, p Holm: "
                                  "tau_p_holm, n, P@3: precision_at_3, chance: precision_at_3_chance"),
                    "tau_p_cite",
                    {"measure", "kind"}}};
  if (people.groups.size() > 1) {
    finding.views.front().columns.insert(finding.views.front().columns.begin(), {"people_group", "people"});
  }
  std::vector<std::string> claims;
  for (const auto& measure : people.measure_axis.labels) {
    for (const auto& group : people.groups) {
      for (const auto& row : people.rows) {
        const auto& tau = people.cells[claims.size()].agreement.tau;
        claims.push_back(row.kind != PeopleRow::Kind::pooled
                             ? ""
                             : results::in_words(measure) + (tau.value < 0 ? " reverses" : " follows") +
                                   " the order of people's means" + (people.groups.size() > 1 ? " of " + group : ""));
      }
    }
  }
  finding.question = {{.claims = std::move(claims),
                       .value = "tau",
                       .counted = "cell",
                       .name = "tau-b",
                       .least = "tau_p_smallest",
                       .nothing = "agreement"}};
  const auto who = people.num_annotators.front() == 0 ? base::counted(people.num_answers.front(), "mean")
                                                      : base::counted(people.num_answers.front(), "answer") + " of " +
                                                            base::counted(people.num_annotators.front(), "annotator");
  finding.sentences.push_back({"", "Agreement with people, tau-b over " +
                                       base::counted(people.num_subjects, "subject") + " x " +
                                       base::counted(people.num_items, "item") + " (" + who + ")."});
  for (const auto& note : people.notes) {
    finding.sentences.push_back({"", "Ratings: " + note + "."});
  }
  return finding;
}

/// What people said, and how many.
std::vector<Finding> answers_findings(const PeopleAgreement& people) {
  Finding means{.name = "people_mean", .axes = {group_axis(people), people.subject_axis, people.item_axis}};
  means.add(Role::value, people.means, "", "1", "people's mean, 0: left pole, 100: right pole").note = people.source;
  Finding counts{.name = "people_num", .axes = {group_axis(people)}};
  counts.add(Role::value, people.num_annotators, "annotators", "1", "annotators; 0: the table holds means");
  counts.add(Role::value, people.num_answers, "answers", "1", "answers about subjects and items of the result");
  return {std::move(means), std::move(counts)};
}

void add_judged(Finding& finding, const std::vector<TableAgreement>& judged, const std::string& of) {
  const RowColumns add{finding, judged};
  const auto tau = &TableAgreement::tau;
  add(Role::value, "tau", "1", "tau-b over all cells of all subjects" + of, tau, &stats::Correlation::value);
  add(Role::n, "n", "1", "cells that are rated and scored", tau, &stats::Correlation::n);
  add(Role::value, "precision_at_3", "1", "precision at 3, mean over subjects" + of, &TableAgreement::precision,
      &stats::Precision::mean, &stats::Value::value);
}

Finding templates_finding(const PeopleAgreement& people) {
  Finding finding{.name = "people_template", .axes = {people.measure_axis, people.template_axis}};
  add_judged(finding, people.by_template, ", in the template alone");
  finding.views = {{"Agreement with people by template: ",
                    table_columns("template: " + people.template_axis.name + ", tau-b: tau, n, P@3: precision_at_3"),
                    "-tau"}};
  finding.notes =
      "Templates chosen by these figures agree less with other people: statistics.people.selection judges "
      "them on data that did not choose.";
  return finding;
}

std::vector<Finding> selection_findings(const PeopleAgreement& people) {
  std::vector<TableAgreement> judged;
  std::vector<std::int32_t> chosen;
  Finding finding{.name = "people_selection",
                  .axes = {people.measure_axis,
                           {"people_choice", "which templates", {"chosen", "all"}, {}},
                           {"people_part", "which answers", {"pilot", "held out"}, {}}}};
  const auto& templates = people.template_axis.labels;
  for (std::size_t measure = 0; measure < people.selected.size(); ++measure) {
    const auto& selected = people.selected[measure];
    for (const auto& choice : selected.judged) {
      judged.insert(judged.end(), choice.begin(), choice.end());
    }
    std::vector<std::int32_t> flags(templates.size(), 0);
    std::vector<std::string> names;
    for (const auto sentence : selected.choice ? selected.choice->templates : std::vector<std::size_t>()) {
      flags[sentence] = 1;
      names.push_back(templates[sentence]);
    }
    chosen.insert(chosen.end(), flags.begin(), flags.end());
    const auto& label = people.measure_axis.labels[measure];
    finding.sentences.push_back({label, "Templates chosen on a pilot (" + people.pilot + ") by " + label + ": " +
                                            (names.empty() ? "none has a tau-b" : base::join(names, " + ")) + "."});
  }
  add_judged(finding, judged, ", by the part of the answers");
  finding.views = {
      {"Templates chosen on a pilot: ",
       table_columns("templates: people_choice, answers: people_part, tau-b: tau, n, P@3: precision_at_3")}};
  finding.notes =
      "pilot: on the answers that chose the templates, so it flatters; held out: on those that share neither subjects "
      "nor annotators with the pilot, where it names both.";
  Finding flags{.name = "people_selected", .axes = {people.measure_axis, people.template_axis}};
  flags.add(Role::value, chosen, "", "1", "1: the pilot (" + people.pilot + ") chose this template");
  return {std::move(finding), std::move(flags)};
}

}  // namespace

std::vector<Finding> findings_of(const PeopleAgreement& people, const sweep::Comparison& comparison) {
  std::vector<Finding> findings = {rows_finding(people, comparison)};
  std::ranges::move(answers_findings(people), std::back_inserter(findings));
  if (!people.by_template.empty()) {
    findings.push_back(templates_finding(people));
  }
  if (!people.selected.empty()) {
    std::ranges::move(selection_findings(people), std::back_inserter(findings));
  }
  for (auto& finding : findings) {
    finding.named = comparison.people->measures;
  }
  return findings;
}

}  // namespace stereosweep::findings
