#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/Lists.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

/// What keeps a reader from taking the numbers as they stand.
std::vector<std::string> warnings_of(const Finding& finding, const std::vector<ContrastRow>& rows) {
  std::vector<std::string> warnings;
  std::int32_t fewest = std::numeric_limits<std::int32_t>::max();
  std::int32_t left_out = 0;
  std::int32_t missing = 0;
  bool has_few_degrees = false;
  for (const auto& row : rows) {
    fewest = std::isnan(row.p_flip) ? fewest : std::min(fewest, row.num_templates);
    left_out = std::max(left_out, row.num_left_out);
    missing = std::max(missing, row.num_missing);
    has_few_degrees = has_few_degrees || row.degrees < 2;
  }
  if (fewest < 6) {
    warnings.push_back("With " + std::to_string(fewest) + " templates no p of flipped signs (" +
                       finding.variable("p_flip") + ") is below " + results::p_value(std::ldexp(1.0, 1 - fewest)) +
                       ".");
  }
  if (has_few_degrees) {
    warnings.push_back(few_degrees_text(finding.variable("degrees")));
  }
  if (left_out > 0 || missing > 0) {
    warnings.push_back("Composition is not equal: up to " + std::to_string(missing) +
                       " scores of a row's subjects are missing, and up to " + std::to_string(left_out) +
                       " subjects are left out (" + finding.variable("num_missing") + ", " +
                       finding.variable("num_left_out") + ").");
  }
  return warnings;
}

/// How scores are compared where subjects lack cells.
std::string cells_text(const sweep::Comparison& comparison) {
  using Cells = sweep::Contrast::Cells;
  const auto has = [&](Cells cells) {
    return std::ranges::find(comparison.contrasts, cells, &sweep::Contrast::cells) != comparison.contrasts.end();
  };
  return std::string(has(Cells::adjusted) || comparison.contrasts.empty()
                         ? " Cells (adjusted): where subjects lack some, means are those of equal composition by least "
                           "squares."
                         : "") +
         (has(Cells::common) ? " Cells (common): those that all subjects of a row have." : "") +
         (has(Cells::all) ? " Cells (all): all that exist, so that a subject who lacks some may move a mean by what it "
                            "is."
                          : "");
}

/// Which tests are adjusted together.
std::string family_text(sweep::Comparison::Family family) {
  switch (family) {
    case sweep::Comparison::Family::contrast:
      return "the items of one contrast and measure";
    case sweep::Comparison::Family::measure:
      return "all contrasts and items of one measure";
    case sweep::Comparison::Family::all:
      break;
  }
  return "all rows";
}

/// Which question each number of the table answers, and what to beware of.
std::string notes_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const auto any = [&](auto holds) { return std::ranges::any_of(rows, holds); };
  std::string text = "low, high, p: " + results::percent(comparison.confidence) +
                     " interval and two-sided t test, with one variance, over other templates and rephrasings, these "
                     "subjects taken as given; p adjusted by Holm among " +
                     family_text(comparison.family) + ".";
  if (any([](const ContrastRow& row) { return !std::isnan(row.p_subjects); })) {
    text +=
        " p subjects: two-sided Welch t over other subjects of the sides' kinds, these templates taken as given. "
        "Whether kinds of subjects differ needs both to be small.";
  }
  if (std::ranges::all_of(rows, [](const ContrastRow& row) { return row.num_rephrasings < 2; })) {
    text += " One rephrasing: all of it in this wording.";
  }
  return text + cells_text(comparison);
}

}  // namespace

std::string few_degrees_text(const std::string& variable) {
  return "Rows with fewer than 2 degrees of freedom (" + variable +
         ") have p <= 0.05 only where a difference is more than 5 to 13 standard errors: more templates or rephrasings "
         "are needed.";
}

void add_differences(Finding& finding, const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) -> Column& {
    return finding.add(role, rows, name, unit, what, read);
  };
  finding.notes = notes_of(rows, comparison);
  finding.warnings = warnings_of(finding, rows);
  const auto family = ", adjusted among " + family_text(comparison.family);
  const auto interval = results::percent(comparison.confidence) +
                        " interval over other templates and rephrasings: Student's t of crossed random effects";
  add(Role::value, "difference", "", "left minus right, in the measure's unit", &ContrastRow::difference)
      .is_difference = true;
  add(Role::low, "low", "", "lower end of the " + interval, &ContrastRow::low);
  add(Role::high, "high", "", "upper end of the " + interval, &ContrastRow::high);
  add(Role::p, "p", "1", "two-sided p over other templates and rephrasings: t of the interval's variance",
      &ContrastRow::p);
  add(Role::adjusted, "p_holm", "1", "p after Holm" + family, &ContrastRow::p_holm);
  add(Role::adjusted, "p_benjamini_hochberg", "1", "p after Benjamini and Hochberg" + family,
      &ContrastRow::p_benjamini_hochberg);
  add(Role::adjusted, "p_yekutieli", "1", "p after Benjamini and Yekutieli" + family, &ContrastRow::p_yekutieli);
  add(Role::p, "p_flip", "1", "two-sided p over other templates, these rephrasings taken as given: signs flipped",
      &ContrastRow::p_flip);
  const auto of_flips = [&](Role role, const char* name, const std::string& what, auto read) {
    add(role, name, "1", what, read).of = "p_flip";
  };
  of_flips(Role::low, "p_flip_low", "lower end of the interval of a p_flip that was drawn; p_flip where it was counted",
           &ContrastRow::p_flip_low);
  of_flips(Role::high, "p_flip_high",
           "upper end of the interval of a p_flip that was drawn; p_flip where it was counted",
           &ContrastRow::p_flip_high);
  of_flips(Role::adjusted, "p_flip_max_t", "p_flip by max-T with common flips" + family, &ContrastRow::p_flip_max_t);
  of_flips(Role::low, "p_flip_smallest", "no p_flip can be smaller with as many templates",
           &ContrastRow::smallest_p_flip);
  add(Role::n, "num_templates", "1", "templates, or pairs of them, with a difference", &ContrastRow::num_templates);
  add(Role::n, "num_rephrasings", "1", "rephrasings with a difference; 1 where the sides take different ones",
      &ContrastRow::num_rephrasings);
  add(Role::n, "num_cells", "1", "(template, rephrasing) with a difference", &ContrastRow::num_cells);
  add(Role::n, "num_possible", "1", "(template, rephrasing) compared", &ContrastRow::num_possible);
  add(Role::n, "num_subjects", "1", "subjects whose scores are compared", &ContrastRow::num_subjects);
  add(Role::n, "num_left_out", "1", "subjects without enough cells that can be compared", &ContrastRow::num_left_out);
  add(Role::n, "num_missing", "1", "scores that the compared subjects lack in the compared cells",
      &ContrastRow::num_missing);
  add(Role::n, "degrees", "1", "degrees of freedom of p and of the interval", &ContrastRow::degrees);
  add(Role::status, "status", "", "why there is no interval and no p", &ContrastRow::reason);
  add(Role::value, "left", "", "mean of the left side", &ContrastRow::left);
  add(Role::value, "right", "", "mean of the right side; 0 for a contrast with zero", &ContrastRow::right);
  add(Role::value, "effect", "1", "mean of the templates' differences over their standard deviation (n - 1)",
      &ContrastRow::effect);
}

Finding finding_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  Finding finding{.name = "contrast"};
  finding.axes = {list_axis<ContrastRow>("contrast", "contrast, measure and item", rows,
                                         {{"name", "name of the contrast", &ContrastRow::contrast},
                                          {"measure", "what is compared", &ContrastRow::measure},
                                          {"item", "what it is about", &ContrastRow::item}})};
  add_differences(finding, rows, comparison);
  finding.add(Role::p, rows, "p_subjects", "1",
              "two-sided p over other subjects of the sides' kinds, these templates taken as given: Welch's t",
              &ContrastRow::p_subjects);
  const auto interval = results::percent(comparison.confidence) + " interval over other subjects";
  finding.add(Role::low, rows, "subjects_low", "", "lower end of the " + interval, &ContrastRow::subjects_low);
  finding.add(Role::high, rows, "subjects_high", "", "upper end of the " + interval, &ContrastRow::subjects_high);
  finding.views = {
      {"Contrasts in ",
       table_columns(
           "contrast: name, item, difference, low, high, effect, templates: num_templates, p, p adjusted: p_holm"),
       "p"}};
  if (std::ranges::any_of(rows, [](const auto& row) { return !std::isnan(row.p_subjects); })) {
    finding.views.front().columns.emplace_back("p_subjects", "p subjects");
  }
  finding.named = base::joined(comparison.contrasts, &sweep::Contrast::measures);
  return finding;
}

}  // namespace stereosweep::findings
