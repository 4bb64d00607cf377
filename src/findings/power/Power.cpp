#include "findings/power/Power.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stats/Power.hpp"

namespace stereosweep::findings {
namespace {

constexpr double cautious_probability = 0.8;
constexpr double rounding = 1e-24;  // of a variance, relative to the squared mean: what varies by less is equal

PlannedContrast planned(const ContrastSpread& spread) {
  const auto& squares = spread.squares;
  PlannedContrast row{.contrast = spread.contrast,
                      .measure = spread.measure,
                      .item = spread.item,
                      .num_templates = squares.num_rows,
                      .num_rephrasings = squares.num_columns};
  if (squares.num_rows < 2) {
    row.reason = squares.num_rows == 0 ? stats::Reason::no_values : stats::Reason::too_few;
    return row;
  }
  const auto num_rows = static_cast<double>(squares.num_rows);
  const auto num_cells = static_cast<double>(squares.num_cells);
  row.cells = squares.rest * num_cells;
  row.templates = std::max(0.0, squares.rows * num_rows - row.cells * num_rows / num_cells);
  const bool varies = row.templates + row.cells > rounding * spread.difference * spread.difference;
  row.reason = varies ? stats::Reason::ok : stats::Reason::constant;
  return row;
}

}  // namespace

double PlannedContrast::deviation(std::size_t count) const {
  return std::sqrt(templates + cells / static_cast<double>(count));
}

std::vector<PlannedContrast> plan_contrasts(const Scores& pilot, const sweep::Comparison& comparison) {
  std::vector<PlannedContrast> rows;
  std::ranges::transform(spreads_of(pilot, comparison), std::back_inserter(rows), planned);
  return rows;
}

double effect_of(const PlannedContrast& contrast, const PowerGoal& goal, std::size_t num_rephrasings,
                 PilotVariance variance) {
  const double unit = goal.unit == PowerGoal::Unit::score ? 1 : contrast.deviation(contrast.num_rephrasings);
  const auto degrees = static_cast<double>(contrast.num_templates) - 1;
  const double factor =
      variance == PilotVariance::cautious ? stats::upper_variance_factor(degrees, cautious_probability) : 1;
  return goal.size * unit / (contrast.deviation(num_rephrasings) * std::sqrt(factor));
}

std::optional<std::size_t> enough_templates(const PlannedContrast& contrast, const PowerGoal& goal,
                                            std::size_t num_rephrasings, PilotVariance variance) {
  return stats::enough_differences(effect_of(contrast, goal, num_rephrasings, variance), goal.chance, goal.level,
                                   most_planned_templates);
}

}  // namespace stereosweep::findings
