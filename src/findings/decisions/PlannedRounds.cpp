#include "findings/decisions/PlannedRounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/text/Text.hpp"
#include "findings/contrasts/ContrastPlans.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/decisions/Rounds.hpp"
#include "findings/power/Power.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::findings {
namespace {

using sweep::DecideRequest;

constexpr std::uint64_t simulation_seed = 20'220'710;
constexpr double usual_margin = 0.5;  // in standard deviations
constexpr double wanted_chance = 0.8;

/// Of a contrast, and of the family that its rows are decided with.
struct Design {
  std::size_t num_templates = 0;
  std::size_t num_rephrasings = 0;
  std::size_t family_rows = 0;
  auto operator<=>(const Design&) const = default;
  std::size_t num_cells() const { return num_templates * num_rephrasings; }
  double deviation(const DecideRequest::Plan& plan) const {
    return std::sqrt(plan.templates + plan.cells / static_cast<double>(num_rephrasings));
  }
  /// The complete table's, as the first row of the family.
  stats::PlannedMean mean(double effect, const DecideRequest& request) const {
    const auto& plan = request.plan;
    return {effect * deviation(plan),
            {plan.templates, plan.rephrasings, plan.cells},
            num_rephrasings,
            request.own_level() / static_cast<double>(family_rows)};
  }
};

/// Where rows of simulated families stop, and means over them. Of a family with many rows some are simulated, at a
/// level that is as much smaller.
struct SimulatedStops {
  std::size_t rows_of_family = 0;
  std::vector<std::size_t> stops = {};  ///< [family, row]
  ExpectedPasses means = {};
  std::size_t num_families() const { return stops.size() / rows_of_family; }
};

/// [family, cell, row]: tables of normal effects.
std::vector<double> normal_tables(const Design& design, double mean, const DecideRequest::Plan& plan,
                                  std::size_t num_families, std::size_t num_rows) {
  std::uint64_t count = 0;
  const auto normal = [&](double variance) {
    const double radius = std::sqrt(-2 * std::log1p(-base::random_unit(simulation_seed, 0, count++)));
    const double angle = 2 * std::numbers::pi * base::random_unit(simulation_seed, 0, count++);
    return std::sqrt(variance) * radius * std::cos(angle);
  };
  std::vector<double> values(num_families * design.num_cells() * num_rows);
  for (std::size_t table = 0; table < num_families * num_rows; ++table) {
    std::vector<double> of_rephrasings(design.num_rephrasings);
    std::ranges::generate(of_rephrasings, [&] { return normal(plan.rephrasings); });
    for (std::size_t cell = 0; cell < design.num_cells();) {
      const double of_template = mean + normal(plan.templates);
      for (std::size_t column = 0; column < design.num_rephrasings; ++column, ++cell) {
        values[(table / num_rows * design.num_cells() + cell) * num_rows + table % num_rows] =
            of_template + of_rephrasings[column] + normal(plan.cells);
      }
    }
  }
  return values;
}

/// Subjects are families, items their rows.
SimulatedStops simulate(const Design& design, double effect, const DecideRequest& asked) {
  constexpr std::size_t most_cells = 300'000;
  const auto most_tables = std::clamp<std::size_t>(most_cells / design.num_cells(), 30, 400);
  const auto num_rows = std::min(design.family_rows, most_tables);
  const auto num_families = std::max<std::size_t>(most_tables / num_rows, 1);
  const double deviation = design.deviation(asked.plan);
  const std::array lengths = {std::size_t{1},         num_families,   design.num_templates,
                              design.num_rephrasings, std::size_t{1}, num_rows};
  results::ScoreTableAxes axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    axes[axis].name = results::score_axis_names[axis];
    for (std::size_t place = 0; place < lengths[axis]; ++place) {
      axes[axis].labels.push_back(std::to_string(place));
    }
  }
  auto scores = scores_of(axes);
  scores.read = [&](std::size_t /*measure*/) {
    return normal_tables(design, effect * deviation, asked.plan, num_families, num_rows);
  };
  scores.read_statuses = {};
  sweep::Comparison comparison;
  comparison.contrasts = {{.name = "family", .against = sweep::Contrast::Against::zero, .each = "subject"}};
  comparison.decide = asked;
  auto& request = *comparison.decide;
  request.measures.clear();
  request.family = sweep::TestFamily::contrast;
  request.level = asked.own_level() * static_cast<double>(num_rows) / static_cast<double>(design.family_rows);
  request.reserve = 0;
  request.after.reset();
  std::erase_if(request.want, [](const auto& want) { return want.width > 0; });
  for (auto& want : request.want) {
    want.equivalence = want.equivalence > 0 ? usual_margin * deviation : 0;
  }
  SimulatedStops found{.rows_of_family = num_rows};
  const auto decisions = Deciding(scores, comparison, simulation_seed).after(std::numeric_limits<std::size_t>::max());
  const auto share = 1 / static_cast<double>(decisions.rows.size());
  for (const auto& row : decisions.rows) {
    found.stops.push_back(row.stop);
    found.means.decided += is_verdict(row.status) ? share : 0;
    found.means.row_round += share * static_cast<double>(row.stop + 1);
    found.means.row_passes += share * row.at_stop()->passes / row.table.rounds.back().passes;
  }
  return found;
}

/// The rows of one contrast in one measure that visit their cells alike.
struct RowGroup {
  const ContrastPlan* plan = nullptr;
  std::string family = {};
  std::vector<std::uint8_t> visited = {};  ///< RowRounds::visited
  std::size_t first = 0;                   ///< of its rows in the family
  std::size_t num_rows = 0;
  Design design = {};
};

std::vector<RowGroup> groups_of(const std::vector<ContrastPlan>& plans, const Scores& axes, const DealtOrder& order,
                                const DecideRequest& request, const LeftOut& is_left_out) {
  std::vector<RowGroup> groups;
  std::map<std::string, std::size_t> num_rows;
  for (const auto& plan : plans) {
    for (const auto measure : plan.measures) {
      std::map<std::vector<bool>, std::size_t> rows;  // by the templates that they leave out
      for (const auto item : asked_items(axes, plan, measure, request)) {
        ++rows[templates_without(axes, measure, item, is_left_out)];
      }
      const auto name = family_of(plan.name, std::to_string(measure), request.family);
      for (const auto& [left_out, count] : rows) {
        const auto visited = visited_cells(plan, order, left_out);  // blocks are left out with all their columns
        const auto num_cells = visited.size() - static_cast<std::size_t>(std::ranges::count(visited, never_visited));
        if (num_cells > 0) {
          const Design design = {num_cells / plan.num_columns, plan.num_columns};
          groups.push_back({&plan, name, visited, num_rows[name], count, design});
          num_rows[name] += count;
        }
      }
    }
  }
  for (auto& group : groups) {
    group.design.family_rows = num_rows[group.family];
  }
  return groups;
}

ExpectedPasses expect(double effect, const std::vector<RowGroup>& groups, const Scores& axes,
                      const DecideRequest& request) {
  constexpr std::size_t most_counted = 20'000'000;  // (contrast, subject, sentence)
  std::map<Design, SimulatedStops> simulated;
  ExpectedPasses expected{.effect = effect};
  const auto share = 1 / static_cast<double>(groups.size());
  std::size_t num_jobs = 1;
  for (const auto& group : groups) {
    auto& found = simulated[group.design];
    if (found.stops.empty()) {
      found = simulate(group.design, effect, request);
    }
    num_jobs = std::max(num_jobs, std::min<std::size_t>(found.num_families(), 50));
    expected.decided += share * found.means.decided;
    expected.row_round += share * found.means.row_round;
    expected.row_passes += share * found.means.row_passes;
  }
  const auto num_counted = groups.size() * axes.length(subject_axis) * groups.front().visited.size();
  num_jobs = std::clamp<std::size_t>(most_counted / num_counted, 1, num_jobs);
  for (std::size_t job = 0; job < num_jobs; ++job) {
    PassCounter passes(axes);
    std::map<std::string, std::size_t> families;  // each is simulated by itself
    for (const auto& group : groups) {
      const auto& found = simulated[group.design];
      const auto place = job + families.try_emplace(group.family, families.size()).first->second;
      for (std::size_t item = 0; item < group.num_rows; ++item) {
        const auto row =
            place % found.num_families() * found.rows_of_family + (group.first + item) % found.rows_of_family;
        passes.add(*group.plan, group.visited, found.stops[row]);
      }
    }
    expected.passes += static_cast<double>(passes.count().asked) / static_cast<double>(num_jobs);
  }
  return expected;
}

std::optional<double> least_effect_of(const Design& design, const DecideRequest& request) {
  for (double effect = 0.05; effect < 100; effect *= 1.005) {
    if (stats::crossed_power(design.mean(effect, request), design.num_templates) >= wanted_chance) {
      return effect;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<PlannedRounds> plan_rounds(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison,
                                         std::uint64_t seed, const LeftOut& is_left_out) {
  if (std::ranges::any_of(axes, [](const auto& axis) { return axis.labels.empty(); })) {
    return std::nullopt;
  }
  const auto& request = *comparison.decide;
  const auto scores = scores_of(axes);
  const auto plans = plan_contrasts_of(scores, asked_contrasts(comparison));
  const DealtOrder order(scores, seed);
  const auto groups = groups_of(plans, scores, order, request, is_left_out);
  if (groups.empty()) {
    return std::nullopt;
  }
  const auto smallest = std::ranges::min_element(groups, {}, &RowGroup::design)->design;
  PlannedRounds planned{.num_templates = smallest.num_templates, .num_rephrasings = smallest.num_rephrasings};
  for (const auto& group : groups) {
    planned.family_rows = std::max(planned.family_rows, group.design.family_rows);
    const auto looks = stats::planned_looks(group.design.num_templates, group.design.num_rephrasings);
    planned.num_rounds = std::max(planned.num_rounds, looks.size());
    const auto num_cells = [](const auto& look) { return base::with_thousands(look.num_rows * look.num_layers); };
    base::add_once(planned.cells_by_round, base::join(base::mapped(looks, num_cells), ", "));
  }
  planned.all_passes = scores.length(subject_axis) * scores.length(template_axis) * scores.length(rephrasing_axis);
  if (!request.wants_sign() && request.margin() == 0) {
    return planned;
  }
  for (const double effect : {2.0, 1.0, 0.5, 0.0}) {
    planned.by_effect.push_back(expect(effect, groups, scores, request));
  }
  planned.least_effect = least_effect_of(smallest, request);
  planned.enough_templates =
      stats::enough_rows(smallest.mean(small_effect, request), wanted_chance, most_planned_templates);
  return planned;
}

std::string rounds_text(const PlannedRounds& planned, const DecideRequest& request, std::optional<double> seconds) {
  const auto& plan = request.plan;
  std::string text = "rounds after " + base::join(planned.cells_by_round, "; or ") +
                     " (template, rephrasing) of each subject that an open row needs.";
  if (planned.by_effect.empty()) {
    return text + " How soon an interval is narrow depends on variances in the score's unit.\n";
  }
  text += " Expected of " + base::counted(planned.family_rows, "row") +
          " decided together, by simulation with variances " + base::format_double(plan.templates) + " : " +
          base::format_double(plan.rephrasings) + " : " + base::format_double(plan.cells) +
          " (templates, rephrasings, cells" + (plan.pilot.empty() ? "" : "; of " + plan.pilot) +
          "), where every row has the same true difference, in standard deviations (sd) of the templates' differences" +
          (request.margin() > 0 ? "; the margin is taken as 0.5 sd" : "") +
          (request.width() > 0 ? "; a width may take more" : "") + ":\n";
  std::vector<std::string> head = {"true difference", "row's last round", "row's passes", "decided", "job's passes"};
  if (seconds) {
    head.emplace_back("minutes");
  }
  results::TerminalTable table(head);
  const auto all = static_cast<double>(planned.all_passes);
  const auto add = [&](std::vector<std::string> cells, double passes) {
    cells.push_back(base::with_thousands(static_cast<std::uint64_t>(passes + 0.5)) + " (" +
                    results::fixed(100 * passes / all, 1) + " %)");
    if (seconds) {
      cells.push_back(results::fixed(*seconds / 60 * passes / all, 1));
    }
    table.add(std::move(cells));
  };
  for (const auto& expected : planned.by_effect) {
    add({expected.effect == 0 ? "no difference" : base::format_double(expected.effect) + " sd",
         results::fixed(expected.row_round, 1) + " of " + std::to_string(planned.num_rounds),
         results::fixed(100 * expected.row_passes, 1) + " %", results::fixed(100 * expected.decided, 0) + " %"},
        expected.passes);
  }
  add({"without deciding", "", "100.0 %", ""}, all);
  const auto level = planned.family_rows == 1 ? base::format_double(request.own_level())
                                              : base::format_double(request.own_level()) + "/" +
                                                    base::with_thousands(planned.family_rows) + ", Holm's first step";
  return text + table.text() + "What asking more often cannot decide: the complete table of " +
         std::to_string(planned.num_templates) + " templates in " +
         base::counted(planned.num_rephrasings, "rephrasing") + " shows " +
         (planned.least_effect ? "a difference of " + results::significant(*planned.least_effect) + " sd"
                               : "no difference, however large,") +
         " with a chance of 80 % (at the level " + level + "). For " + base::format_double(small_effect) + " sd " +
         (planned.enough_templates ? base::with_thousands(*planned.enough_templates) + " templates are needed"
                                   : "no number of templates is enough with so few rephrasings") +
         " ('plan --power' tells other sizes).\n";
}

}  // namespace stereosweep::findings
