#include "findings/power/Power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr double cautious_probability = 0.8;
constexpr double variance_rounding = 1e-24;  // of the squared mean: a variance that is not above it is none

using Counted = std::optional<std::size_t>;

constexpr std::array<std::size_t, 3> rephrasing_steps = {1, 5, 20};
constexpr std::array<std::size_t, 9> template_steps = {5, 6, 8, 10, 15, 20, 35, 50, 100};

std::string count_text(const Counted& count) {
  return count ? base::with_thousands(*count) : "more than " + base::with_thousands(most_planned_templates);
}

std::string power_percent(double power) { return results::fixed(100 * power, 0); }

std::string goal_text(const PowerGoal& goal) {
  return "p <= " + base::format_double(goal.level) + " with a chance of " + results::percent(goal.chance) +
         ", where the true difference is " + base::format_double(goal.size) +
         (goal.unit == PowerGoal::Unit::score ? " in the score's unit" : " standard deviations");
}

/// What holds with and without a pilot.
std::string assumptions(const PowerGoal& goal) {
  return "Assumed: templates (or pairs of them) and rephrasings are samples, crossed, with about normal effects; p is "
         "that of contrasts, a two-sided t test over other templates and rephrasings, and it is not adjusted: for m "
         "tests together give level=" +
         base::format_double(goal.level) + "/m as a number. The chance is computed by the noncentral t distribution.";
}

struct Row {
  const ContrastSpread* contrast;
  Counted enough;  ///< with the pilot's number of rephrasings
};

std::vector<Row> rows_of(std::span<const ContrastSpread> contrasts, const PowerGoal& goal) {
  std::vector<Row> rows;
  for (const auto& contrast : contrasts) {
    const bool has_variance = reason_of(contrast) == stats::Reason::ok;
    rows.push_back(
        {&contrast, has_variance ? enough_templates(contrast, goal, contrast.squares.num_columns) : std::nullopt});
  }
  return rows;
}

bool is_planned(const Row& row) { return reason_of(*row.contrast) == stats::Reason::ok; }

/// "9 to 43 templates with 4 rephrasings (in 12 of 16 rows)"
std::string answer_text(const std::vector<Row>& rows) {
  std::vector<Counted> counts;
  std::set<std::size_t> rephrasings;
  for (const auto& row : rows) {
    if (is_planned(row)) {
      counts.push_back(row.enough);
      rephrasings.insert(row.contrast->squares.num_columns);
    }
  }
  if (counts.empty()) {
    return "Nothing can be planned: no contrast has two templates whose differences vary in the pilot";
  }
  const auto larger = [](const Counted& left, const Counted& right) {
    return left.value_or(most_planned_templates + 1) < right.value_or(most_planned_templates + 1);
  };
  const auto [least, most] = std::ranges::minmax_element(counts, larger);
  auto text = count_text(*least) + (*least == *most ? "" : " to " + count_text(*most)) + " templates (or pairs) with " +
              (rephrasings.size() == 1 ? base::counted(*rephrasings.begin(), "rephrasing")
                                       : std::string("as many rephrasings as the pilot"));
  if (counts.size() < rows.size()) {
    text += " (" + base::with_thousands(counts.size()) + " of " + base::counted(rows.size(), "row") +
            "; the rest has no variance in the pilot)";
  }
  return text;
}

/// Numbers of rephrasings that stand in columns; one where the pilot does not know what more would bring.
std::vector<std::size_t> columns_of(const std::vector<Row>& rows) {
  std::set<std::size_t> columns;
  for (const auto& row : rows) {
    columns.insert(row.contrast->squares.num_columns);
  }
  columns.erase(0);
  if (!columns.empty() && *columns.rbegin() > 1) {
    columns.insert(rephrasing_steps.begin(), rephrasing_steps.end());
  }
  return {columns.begin(), columns.end()};
}

std::vector<std::string> cells_of(const Row& row, const PowerGoal& goal, const std::vector<std::size_t>& columns) {
  const auto& contrast = *row.contrast;
  std::vector<std::string> cells = {
      contrast.contrast, contrast.item,
      std::to_string(contrast.squares.num_rows) + " x " + std::to_string(contrast.squares.num_columns)};
  if (!is_planned(row)) {
    cells.emplace_back(stats::name_of(reason_of(contrast)));
    cells.resize(cells.size() + 3 + columns.size(), "-");
    return cells;
  }
  const auto own = contrast.squares.num_columns;
  const auto difference = difference_of(contrast, goal);
  cells.push_back(results::significant(deviation_of(contrast, own)));
  cells.push_back(goal.unit == PowerGoal::Unit::score ? results::fixed(difference / deviation_of(contrast, own), 2)
                                                      : results::significant(difference));
  cells.push_back(power_percent(stats::crossed_power(planned_mean(contrast, goal, own), contrast.squares.num_rows)));
  for (const auto column : columns) {
    const auto enough = enough_templates(contrast, goal, column);
    cells.push_back(own == 1 && column > 1 ? "-" : enough ? std::to_string(*enough) : "none");
  }
  const auto cautious = enough_templates(contrast, goal, own, PilotVariance::cautious);
  cells.push_back(cautious ? std::to_string(*cautious) : "none");
  return cells;
}

/// Those that need most first; rows without a variance last.
std::string table_text(std::vector<Row> rows, const PowerGoal& goal, std::size_t top) {
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) {
    return is_planned(row) ? row.enough.value_or(most_planned_templates + 1) : 0;
  });
  const auto columns = columns_of(rows);
  std::vector<std::string> head = {
      "contrast",      "item", "pilot", "deviation", goal.unit == PowerGoal::Unit::score ? "effect" : "difference",
      "pilot's chance"};
  for (const auto column : columns) {
    head.push_back("x " + std::to_string(column));
  }
  head.emplace_back("cautious");
  results::TerminalTable table(head);
  const auto shown = std::min(top, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.add(cells_of(rows[i], goal, columns));
  }
  const auto rest = shown == rows.size()
                        ? ""
                        : "(" + base::with_thousands(shown) + " of " + base::counted(rows.size(), "row") +
                              "; --limit " + std::to_string(rows.size()) + " shows all)\n";
  return "\nTemplates needed in " + rows.front().contrast->measure + '\n' + table.text() + rest;
}

}  // namespace

stats::Reason reason_of(const ContrastSpread& contrast) {
  if (contrast.squares.num_rows < 2) {
    return contrast.squares.num_rows == 0 ? stats::Reason::no_values : stats::Reason::too_few;
  }
  const bool varies = std::pow(deviation_of(contrast, 1), 2) > variance_rounding * std::pow(contrast.difference, 2);
  return varies ? stats::Reason::ok : stats::Reason::constant;
}

double deviation_of(const ContrastSpread& contrast, std::size_t num_rephrasings) {
  const auto variances = contrast.squares.variances();
  return std::sqrt(variances.rows + variances.rest / static_cast<double>(num_rephrasings));
}

double difference_of(const ContrastSpread& contrast, const PowerGoal& goal) {
  return goal.unit == PowerGoal::Unit::score ? goal.size
                                             : goal.size * deviation_of(contrast, contrast.squares.num_columns);
}

stats::PlannedMean planned_mean(const ContrastSpread& contrast, const PowerGoal& goal, std::size_t num_rephrasings,
                                PilotVariance variance) {
  stats::PlannedMean planned{difference_of(contrast, goal), contrast.squares.variances(), num_rephrasings, goal.level};
  if (variance == PilotVariance::cautious) {
    const double factor = stats::upper_variance_factor(contrast.squares.error().degrees, cautious_probability);
    for (auto* part : {&planned.variances.rows, &planned.variances.columns, &planned.variances.rest}) {
      *part *= factor;
    }
  }
  return planned;
}

std::optional<std::size_t> enough_templates(const ContrastSpread& contrast, const PowerGoal& goal,
                                            std::size_t num_rephrasings, PilotVariance variance) {
  return stats::enough_rows(planned_mean(contrast, goal, num_rephrasings, variance), goal.chance,
                            most_planned_templates);
}

std::string power_text(const PowerGoal& goal) {
  const stats::PlannedMean planned{goal.size, {.rows = 1}, 1, goal.level};
  const auto enough = stats::enough_rows(planned, goal.chance, most_planned_templates);
  std::string text =
      results::wrapped(count_text(enough) + " templates (or pairs of them) in the contrast: " + goal_text(goal) +
                       " of templates' differences.\n");
  results::TerminalTable table({"templates", "chance in %"});
  std::set<std::size_t> steps(template_steps.begin(), template_steps.end());
  steps.insert(enough.value_or(most_planned_templates));
  for (const auto count : steps) {
    table.add({std::to_string(count), power_percent(stats::crossed_power(planned, count))});
  }
  return text + '\n' + table.text() + '\n' +
         results::wrapped(
             "A template's difference is the mean over its rephrasings: with more of them the same difference is more "
             "standard deviations. Only a pilot (pilot=RUN_DIRECTORY) tells how many more, what rephrasings add to the "
             "error, and what that is in the score's unit. " +
             assumptions(goal) + '\n');
}

std::string power_text(std::span<const ContrastSpread> contrasts, const PowerGoal& goal, std::size_t top) {
  const auto rows = rows_of(contrasts, goal);
  const bool in_score = goal.unit == PowerGoal::Unit::score;
  std::string text =
      results::wrapped(answer_text(rows) + ": " + goal_text(goal) +
                       (in_score ? "" : " of templates' differences as the pilot has rephrasings") + ".\n");
  for (std::size_t first = 0; first < rows.size();) {
    auto last = first;
    while (last < rows.size() && rows[last].contrast->measure == rows[first].contrast->measure) {
      ++last;
    }
    text += table_text(
        {rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(last)}, goal,
        top);
    first = last;
  }
  const bool knows_rephrasings =
      std::ranges::any_of(contrasts, [](const ContrastSpread& contrast) { return contrast.squares.num_columns > 1; });
  return text + '\n' +
         results::wrapped(
             std::string("pilot: templates x rephrasings with a difference. deviation: of templates' differences "
                         "there. ") +
             (in_score ? "effect: the difference over it. " : "difference: so many deviations. ") +
             "pilot's chance: in %, with as many as the pilot. x k: templates that are enough with k rephrasings each" +
             (knows_rephrasings ? "" : " (the pilot has one: what more would save is not known)") +
             ". none: no number of templates up to 100,000 is known to be enough, where so few rephrasings have "
             "effects of their own. cautious: with the pilot's rephrasings and the upper 80 % limit of its variance; a "
             "small pilot's "
             "estimate is too low about every second time. " +
             assumptions(goal) + '\n');
}

}  // namespace stereosweep::findings
