#include "findings/Variation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/Bootstrap.hpp"

namespace stereosweep::findings {
namespace {

using Over = sweep::VariationRequest::Over;

constexpr std::array<double, 5> quantile_levels = {0.05, 0.25, 0.5, 0.75, 0.95};

/// One measure of one subject and item.
struct VariationRow {
  stats::Value variation;
  std::int32_t n = 0;                    ///< values
  std::array<double, 5> quantiles = {};  ///< at `quantile_levels`; NaN: no value
};

std::string name_of(Over over) { return sweep::VariationRequest::over_names.at(static_cast<std::size_t>(over)); }

/// Means of the cells that belong to one value, [subject, value, item]; over replicates a table of each.
std::vector<std::vector<CellMean>> values_over(Over over, const Cells& cells) {
  switch (over) {
    case Over::wording:
      return {cells.means({subject_axis, template_axis, rephrasing_axis, item_axis})};
    case Over::template_:
      return {cells.means({subject_axis, template_axis, item_axis})};
    case Over::rephrasing:
      return {cells.means({subject_axis, rephrasing_axis, item_axis})};
    case Over::replicate:
      break;
  }
  return base::mapped(cells.rounds(), [](const Cells& round) { return round.means({subject_axis, item_axis}); });
}

std::array<double, 5> quantiles_of(std::vector<double> values) {
  std::array<double, 5> quantiles;
  std::ranges::transform(quantile_levels, quantiles.begin(),
                         [&](double level) { return values.empty() ? stats::nan : stats::quantile(values, level); });
  return quantiles;
}

/// [subject, item]
std::vector<VariationRow> rows_over(Over over, const Cells& cells) {
  const auto tables = values_over(over, cells);
  const auto num_items = cells.length(item_axis);
  std::vector<VariationRow> rows(cells.length(subject_axis) * num_items);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<double> values;
    for (const auto& table : tables) {
      const auto num_values = table.size() / rows.size();
      for (std::size_t value = 0; value < num_values; ++value) {
        const auto& mean = table[(row / num_items * num_values + value) * num_items + row % num_items];
        values.insert(values.end(), mean.num_cells > 0 ? 1 : 0, mean.value);
      }
    }
    rows[row] = {stats::variation(values), static_cast<std::int32_t>(values.size()), quantiles_of(values)};
  }
  return rows;
}

Finding finding_of(const std::string& over, const std::vector<VariationRow>& rows) {
  Finding finding{.name = "variation_over_" + over};
  const RowColumns add{finding, rows};
  const auto ratio = &VariationRow::variation;
  add(Role::value, "", "1", "standard deviation (n - 1) over mean, over " + over + "s", ratio, &stats::Value::value);
  add(Role::n, "n", "1", over + "s with a score", &VariationRow::n);
  add(Role::status, "status", "", "why there is no number; constant: the mean is 0", ratio, &stats::Value::reason);
  std::string shown = "subject, item";
  for (std::size_t level = 0; level < quantile_levels.size(); ++level) {
    const auto percent = results::fixed(100 * quantile_levels[level], 0);
    add(Role::value, "quantile_" + percent, "", percent + " % of the scores over " + over + "s are at most this",
        [level](const VariationRow& row) { return row.quantiles[level]; });
    shown += ", " + percent + " %: quantile_" + percent;
  }
  finding.views = {{.title = "Coefficients of variation over " + over + "s, ",
                    .columns = table_columns("subject, item, CV:, n"),
                    .by = "-"},
                   {.title = "Quantiles of scores over " + over + "s, ", .columns = table_columns(shown + ", n")}};
  return finding;
}

}  // namespace

std::vector<Finding> variation_of(const Scores& scores, const sweep::VariationRequest& request) {
  const auto measures = chosen_measures(scores, request.measures, "statistics.variation");
  const auto of_measures = share_measures<std::vector<VariationRow>>(
      scores, measures, [&](const std::vector<double>& values, std::size_t /*place*/) {
        const Cells cells(scores, values);
        return base::mapped(request.over, [&](Over over) { return rows_over(over, cells); });
      });
  std::vector<Finding> findings;
  for (std::size_t place = 0; place < request.over.size(); ++place) {
    const auto rows = base::joined(of_measures, [&](const auto& of_measure) { return of_measure[place]; });
    auto& finding = findings.emplace_back(finding_of(name_of(request.over[place]), rows));
    finding.axes = {measure_axis_of(scores, measures, "variation_measure"), *scores.axes[subject_axis],
                    *scores.axes[item_axis]};
  }
  findings.back().notes =
      "CV: standard deviation (n - 1) over mean of a subject's scores of an item, the largest first. Read it of "
      "measures whose scores are all positive only. Quantiles: so many of its scores are at most the number; they hold "
      "the noise of single cells, too.";
  return findings;
}

}  // namespace stereosweep::findings
