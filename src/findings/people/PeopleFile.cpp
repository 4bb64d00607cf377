#include <algorithm>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "findings/people/People.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

results::AxisSchema row_axis(const PeopleAgreement& people) {
  results::AxisSchema axis{"people_row", "which cells: all, of one dimension of items, of one subject", {}, {}};
  results::AxisSchema::Coordinate kind{"kind", "pooled, dimension or subject", {}};
  results::AxisSchema::Coordinate name{"name", "of the dimension or subject", {}};
  for (const auto& row : people.rows) {
    const char* of_kind = row.kind == PeopleRow::Kind::pooled      ? "pooled"
                          : row.kind == PeopleRow::Kind::dimension ? "dimension"
                                                                   : "subject";
    axis.labels.push_back(row.kind == PeopleRow::Kind::pooled ? row.name : std::string(of_kind) + ": " + row.name);
    kind.values.emplace_back(of_kind);
    name.values.push_back(row.name);
  }
  axis.coordinates = {std::move(kind), std::move(name)};
  return axis;
}

void write_cells(results::Layout& layout, const PeopleAgreement& people, const sweep::Comparison& comparison,
                 const std::string& measure) {
  const auto write = [&](const std::string& name, const std::string& long_name, auto read,
                         const std::string& description = "") {
    layout.write(results::number_cube("people_" + name, "1", long_name, description),
                 {measure, "people_group", "people_row"}, people.cells, read);
  };
  using Cell = PeopleCell;
  const auto draws = base::with_thousands(people.shuffles.draws) +
                     " seeded draws: 2 (b + 1) / (draws + 1), b: the fewer of those whose tau-b is at least, or at "
                     "most, this one";
  const auto interval =
      results::percent(comparison.confidence) + " interval of the mean people_tau of other draws of as many";
  const auto drawn = drawn_words(people.bootstrap) + " drawn with replacement, " +
                     base::with_thousands(people.bootstrap.replicates) +
                     " replicates that vary as the means do; their percentiles, centred at people_tau";
  write("tau", "Kendall's tau-b of scores and people's means",
        [](const Cell& cell) { return cell.agreement.tau.value; });
  write(
      "tau_low", "lower end of the " + interval, [](const Cell& cell) { return cell.interval.low; }, drawn);
  write(
      "tau_high", "upper end of the " + interval, [](const Cell& cell) { return cell.interval.high; }, drawn);
  write("tau_bias", "mean of people_tau over the replicates, minus people_tau", &Cell::bias,
        "by so much the noise of means of so few annotators or templates lowers a tau-b of this size");
  write("tau_p_cite", "two-sided p of people_tau to cite: the larger one of items and of subjects shuffled",
        [](const Cell& cell) { return std::max(cell.p_items.value, cell.p_subjects.value); });
  write(
      "tau_p_items", "two-sided p of people_tau: items shuffled, the same way in every subject",
      [](const Cell& cell) { return cell.p_items.value; }, draws);
  write(
      "tau_p_subjects", "two-sided p of people_tau: subjects shuffled",
      [](const Cell& cell) { return cell.p_subjects.value; }, draws);
  write(
      "tau_p_cells", "two-sided p of people_tau; assumes independent cells",
      [](const Cell& cell) { return cell.agreement.tau.p; },
      "too small where the cells of an item, or of a subject, move together: prefer people_tau_p_items and "
      "people_tau_p_subjects");
  write("pearson", "Pearson's r", [](const Cell& cell) { return cell.agreement.pearson.value; });
  write("spearman", "Spearman's rho", [](const Cell& cell) { return cell.agreement.spearman.value; });
  write("pearson_p_cells", "two-sided p of people_pearson; assumes independent cells",
        [](const Cell& cell) { return cell.agreement.pearson.p; });
  write("spearman_p_cells", "two-sided p of people_spearman; assumes independent cells",
        [](const Cell& cell) { return cell.agreement.spearman.p; });
  write(
      "precision_at_3", "precision at 3; of several subjects the mean over them",
      [](const Cell& cell) { return cell.precision.value; },
      "mean of the shares of the three highest scores rated above the scale's middle and of the three lowest below it");
  write("precision_at_3_chance", "people_precision_at_3 of scores in random order",
        [](const Cell& cell) { return cell.chance.value; });
  const std::vector<std::string> axes = {measure, "people_group", "people_row"};
  layout.write(results::number_cube("people_n", "1", "cells that are rated and scored"), axes, people.cells,
               [](const Cell& cell) { return cell.agreement.tau.n; });
  layout.write(results::flag_cube("people_status", "why people_tau does not exist", stats::reason_names()), axes,
               people.cells, [](const Cell& cell) { return cell.agreement.tau.reason; });
  layout.write(results::flag_cube("people_interval_status", "why the interval does not exist", stats::reason_names()),
               axes, people.cells, [](const Cell& cell) { return cell.interval.reason; });
}

void write_selection(results::Layout& layout, const PeopleAgreement& people, const std::string& measure) {
  layout.add_axis({"people_choice", "which templates", {"chosen", "all"}, {}});
  layout.add_axis({"people_part", "which answers", {"pilot", "held out"}, {}});
  std::vector<SelectedTemplates::Judged> judged;
  std::vector<std::int32_t> chosen;
  const auto num_templates = layout.length(results::score_axis_names[template_axis]);
  for (const auto& selected : people.selected) {
    for (const auto& choice : selected.judged) {
      judged.insert(judged.end(), choice.begin(), choice.end());
    }
    std::vector<std::int32_t> flags(num_templates, 0);
    for (const auto sentence : selected.choice ? selected.choice->templates : std::vector<std::size_t>()) {
      flags[sentence] = 1;
    }
    chosen.insert(chosen.end(), flags.begin(), flags.end());
  }
  layout.write(results::number_cube("people_selected", "1", "1: the pilot (" + people.pilot + ") chose this template"),
               {measure, results::score_axis_names[template_axis]}, chosen);
  const std::vector<std::string> axes = {measure, "people_choice", "people_part"};
  layout.write(results::number_cube("people_selection_tau", "1", "tau-b over all cells, by the part of the answers",
                                    "the pilot's figure of the chosen templates flatters: it chose them"),
               axes, judged, [](const auto& one) { return one.tau.value; });
  layout.write(results::number_cube("people_selection_precision_at_3", "1", "precision at 3, mean over subjects"), axes,
               judged, [](const auto& one) { return one.precision.value; });
  layout.write(results::number_cube("people_selection_n", "1", "cells that are rated and scored"), axes, judged,
               [](const auto& one) { return one.tau.n; });
}

}  // namespace

std::string drawn_words(const BootstrapSettings& bootstrap) {
  std::vector<std::string> words;
  for (const auto& [is_drawn, word] :
       {std::pair(bootstrap.draws_annotators, "annotators (within each subject)"),
        std::pair(bootstrap.draws_templates, "templates"), std::pair(bootstrap.draws_rephrasings, "rephrasings")}) {
    if (is_drawn) {
      words.emplace_back(word);
    }
  }
  return words.empty() ? "nothing" : base::join(words, ", ");
}

void write_people(results::Layout& layout, const PeopleAgreement& people, const sweep::Comparison& comparison) {
  const auto measure = measure_axis_of(layout, people.measures, "people_measure");
  layout.add_axis({"people_group", "whose answers", people.groups, {}});
  layout.add_axis(row_axis(people));
  layout.write(results::number_cube("people_mean", "1", "people's mean, 0: left pole, 100: right pole", people.source),
               {"people_group", results::score_axis_names[subject_axis], results::score_axis_names[item_axis]},
               people.means);
  const std::vector<std::string> of_group = {"people_group"};
  layout.write(results::number_cube("people_num_annotators", "1", "annotators; 0: the table holds means"), of_group,
               people.num_annotators, [](std::size_t count) { return count; });
  layout.write(results::number_cube("people_num_answers", "1", "answers about subjects and items of the result"),
               of_group, people.num_answers, [](std::size_t count) { return count; });
  write_cells(layout, people, comparison, measure);
  if (!people.selected.empty()) {
    write_selection(layout, people, measure);
  }
}

}  // namespace stereosweep::findings
