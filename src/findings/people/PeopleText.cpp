#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "findings/people/People.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using Kind = PeopleRow::Kind;

std::string value_or_reason(double value, stats::Reason reason) {
  return reason == stats::Reason::ok ? results::fixed(value) : std::string(stats::name_of(reason));
}

/// "0.139 [0.021, 0.240]"
std::string tau_with_interval(const PeopleCell& cell) {
  const auto& tau = cell.agreement.tau;
  auto text = value_or_reason(tau.value, tau.reason);
  if (cell.interval.reason == stats::Reason::ok) {
    text += " [" + results::fixed(cell.interval.low, 2) + ", " + results::fixed(cell.interval.high, 2) + "]";
  }
  return text;
}

std::string pooled_text(const PeopleAgreement& people) {
  results::TextTable table({"measure", "tau-b", "low", "high", "p items", "p subjects", "p cells", "cells", "P@3",
                            "chance", "Pearson", "Spearman"});
  for (std::size_t measure = 0; measure < people.measures.size(); ++measure) {
    const auto& cell = people.cell(measure, 0, 0);
    const auto& [tau, pearson, spearman, precision] = cell.agreement;
    table.add({people.measure_names[measure], value_or_reason(tau.value, tau.reason), results::fixed(cell.interval.low),
               results::fixed(cell.interval.high), results::p_value(cell.p_items.value),
               results::p_value(cell.p_subjects.value), results::p_value(tau.p), base::with_thousands(tau.n),
               value_or_reason(cell.precision.value, cell.precision.reason),
               value_or_reason(cell.chance.value, cell.chance.reason), value_or_reason(pearson.value, pearson.reason),
               value_or_reason(spearman.value, spearman.reason)});
  }
  const auto who = people.num_annotators.front() == 0 ? base::counted(people.num_answers.front(), "mean")
                                                      : base::counted(people.num_answers.front(), "answer") + " of " +
                                                            base::counted(people.num_annotators.front(), "annotator");
  return "\nAgreement with people, tau-b pooled over " + base::counted(people.num_subjects, "subject") + " x " +
         base::counted(people.num_items, "item") + " (" + who + ")\n" + table.text();
}

/// How far the intervals of the pooled values can be trusted (bench_people_coverage).
std::string coverage_text(const PeopleAgreement& people) {
  constexpr double much = 0.05;  // of tau
  std::vector<std::string> noisy;
  for (std::size_t measure = 0; measure < people.measures.size(); ++measure) {
    const auto& cell = people.cell(measure, 0, 0);
    if (std::abs(cell.bias) > much * std::abs(cell.agreement.tau.value)) {
      noisy.push_back(people.measure_names[measure]);
    }
  }
  return noisy.empty()
             ? ""
             : "Noise lowers tau-b by more than a twentieth (people_tau_bias) in " + results::first_names(noisy, 3) +
                   ": endless annotators and templates would agree more than the interval says. ";
}

std::string legend(const PeopleAgreement& people, const sweep::Comparison& comparison) {
  const auto& bootstrap = people.bootstrap;
  const bool has_interval = bootstrap.draws_annotators || bootstrap.draws_templates || bootstrap.draws_rephrasings;
  const auto interval =
      has_interval ? "low, high: " + results::percent(comparison.confidence) + " interval, " + drawn_words(bootstrap) +
                         " drawn with replacement: the mean tau-b of other draws of as many. " + coverage_text(people)
                   : std::string("No interval: there is nothing to draw. ");
  return results::wrapped(
      interval +
      "p items: items shuffled, the same way in every subject. p subjects: subjects shuffled. Cite the larger one: "
      "each "
      "alone is too small where items of a dimension, or subjects of a domain, move together. Both two-sided, " +
      base::with_thousands(people.shuffles.draws) +
      " draws. p cells: assumes independent cells, which the cells of one item or of one subject are not; it is often "
      "far too small. P@3: mean over subjects; chance: P@3 of scores in random order.\n");
}

/// A row per label, a column per measure.
template <class CellOf>
std::string by_measure(const PeopleAgreement& people, const std::string& noun, const std::vector<std::string>& labels,
                       std::size_t top, const CellOf& cell_of) {
  std::vector<std::string> head = {noun};
  head.insert(head.end(), people.measure_names.begin(), people.measure_names.end());
  results::TextTable table(head);
  const auto shown = std::min(top, labels.size());
  for (std::size_t label = 0; label < shown; ++label) {
    std::vector<std::string> row = {labels[label]};
    for (std::size_t measure = 0; measure < people.measures.size(); ++measure) {
      row.push_back(tau_with_interval(cell_of(measure, label)));
    }
    table.add(std::move(row));
  }
  return table.text() + results::rest_text(shown, labels.size(), noun + "s");
}

/// Of the rows of one kind, all annotators together.
std::string rows_text(const PeopleAgreement& people, Kind kind, const std::string& noun, std::size_t top) {
  std::vector<std::size_t> places;
  std::vector<std::string> labels;
  for (std::size_t row = 0; row < people.rows.size(); ++row) {
    if (people.rows[row].kind == kind) {
      places.push_back(row);
      labels.push_back(people.rows[row].name);
    }
  }
  return labels.empty() ? ""
                        : "\nTau-b with people by " + noun + "\n" +
                              by_measure(people, noun, labels, top, [&](std::size_t measure, std::size_t label) {
                                return people.cell(measure, 0, places[label]);
                              });
}

std::string selection_text(const PeopleAgreement& people) {
  results::TextTable table({"measure", "pilot", "held out", "pilot, all templates", "held out, all templates",
                            "held-out cells", "P@3 held out"});
  std::string choices;
  for (std::size_t measure = 0; measure < people.selected.size(); ++measure) {
    const auto& [choice, judged] = people.selected[measure];
    std::vector<std::string> row = {people.measure_names[measure]};
    for (const auto& of_templates : judged) {
      for (const auto& part : of_templates) {
        row.push_back(value_or_reason(part.tau.value, part.tau.reason));
      }
    }
    row.push_back(base::with_thousands(judged[0][1].tau.n));
    row.push_back(value_or_reason(judged[0][1].precision.value, judged[0][1].precision.reason));
    table.add(std::move(row));
    std::vector<std::string> chosen;
    for (const auto sentence : choice ? choice->templates : std::vector<std::size_t>()) {
      chosen.push_back(people.templates[sentence]);
    }
    choices += results::wrapped(people.measure_names[measure] + ": " +
                                    (chosen.empty() ? "no template has a tau-b" : base::join(chosen, " + ")) + "\n",
                                2);
  }
  return "\nTemplates chosen on a pilot (" + people.pilot + "), tau-b on it and on the rest\n" + table.text() +
         choices +
         results::wrapped(
             "pilot: on the answers that chose the templates, so it flatters; held out: on those that "
             "share neither subjects nor annotators with the pilot, where it names both.\n");
}

}  // namespace

std::string people_text(const PeopleAgreement& people, const sweep::Comparison& comparison, std::size_t top) {
  std::string text = pooled_text(people) + legend(people, comparison);
  for (const auto& note : people.notes) {
    text += results::wrapped("ratings: " + note + "\n", 2);
  }
  if (people.groups.size() > 1) {
    text += "\nTau-b pooled, by whose answers\n" +
            by_measure(people, "answers", people.groups, people.groups.size(),
                       [&](std::size_t measure, std::size_t group) { return people.cell(measure, group, 0); });
  }
  text += rows_text(people, Kind::dimension, "dimension", people.rows.size());
  text += rows_text(people, Kind::subject, "subject", top);
  return text + (people.selected.empty() ? "" : selection_text(people));
}

}  // namespace stereosweep::findings
