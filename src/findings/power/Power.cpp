#include "findings/power/Power.hpp"

#include <cmath>

#include "base/Lists.hpp"
#include "stats/Power.hpp"

namespace stereosweep::findings {
namespace {

constexpr double cautious_probability = 0.8;
constexpr double variance_rounding =
    1e-24;  // of a variance, relative to the squared mean: what varies by less is equal

PlannedContrast planned(const ContrastSpread& spread) {
  const auto& squares = spread.squares;
  PlannedContrast row{.contrast = spread.contrast,
                      .measure = spread.measure,
                      .item = spread.item,
                      .num_templates = squares.num_rows,
                      .num_rephrasings = squares.num_columns,
                      .variances = squares.variances()};
  if (squares.num_rows < 2) {
    row.reason = squares.num_rows == 0 ? stats::Reason::no_values : stats::Reason::too_few;
    return row;
  }
  row.degrees = squares.error().degrees;
  const bool varies = std::pow(row.deviation(1), 2) > variance_rounding * spread.difference * spread.difference;
  row.reason = varies ? stats::Reason::ok : stats::Reason::constant;
  return row;
}

}  // namespace

double PlannedContrast::deviation(std::size_t count) const {
  return std::sqrt(variances.rows + variances.rest / static_cast<double>(count));
}

std::vector<PlannedContrast> plan_contrasts(const Scores& pilot, const sweep::Comparison& comparison) {
  return base::mapped(spreads_of(pilot, comparison), planned);
}

double difference_of(const PlannedContrast& contrast, const PowerGoal& goal) {
  return goal.unit == PowerGoal::Unit::score ? goal.size : goal.size * contrast.deviation(contrast.num_rephrasings);
}

stats::PlannedMean planned_mean(const PlannedContrast& contrast, const PowerGoal& goal, std::size_t num_rephrasings,
                                PilotVariance variance) {
  stats::PlannedMean planned{difference_of(contrast, goal), contrast.variances, num_rephrasings, goal.level};
  if (variance == PilotVariance::cautious) {
    const double factor = stats::upper_variance_factor(contrast.degrees, cautious_probability);
    for (auto* part : {&planned.variances.rows, &planned.variances.columns, &planned.variances.rest}) {
      *part *= factor;
    }
  }
  return planned;
}

std::optional<std::size_t> enough_templates(const PlannedContrast& contrast, const PowerGoal& goal,
                                            std::size_t num_rephrasings, PilotVariance variance) {
  return stats::enough_rows(planned_mean(contrast, goal, num_rephrasings, variance), goal.chance,
                            most_planned_templates);
}

}  // namespace stereosweep::findings
