#include "findings/Variation.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/Bootstrap.hpp"

namespace stereosweep::findings {
namespace {

using Over = sweep::VariationRequest::Over;

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

}  // namespace

Variation variation_of(const Scores& scores, const sweep::VariationRequest& request) {
  const auto measures = chosen_measures(scores, request.measures, "statistics.variation");
  Variation variation{.axes = {measure_axis_of(scores, measures, "variation_measure"), *scores.axes[subject_axis],
                               *scores.axes[item_axis]},
                      .rows = std::vector<std::vector<VariationRow>>(request.over.size())};
  for (const auto& rows :
       share_measures<VariationRow>(scores, measures, [&](const std::vector<double>&values, std::size_t /*place*/) {
         std::vector<VariationRow> of_measure;
         const Cells cells(scores, values);
         for (const auto over : request.over) {
           std::ranges::move(rows_over(over, cells), std::back_inserter(of_measure));
         }
         return of_measure;
       })) {
    const auto num_rows = rows.size() / request.over.size();
    for (std::size_t place = 0; place < request.over.size(); ++place) {
      const auto own = std::span(rows).subspan(place * num_rows, num_rows);
      variation.rows[place].insert(variation.rows[place].end(), own.begin(), own.end());
    }
  }
  return variation;
}

std::vector<Finding> findings_of(const Variation& variation, const sweep::VariationRequest& request) {
  std::vector<Finding> findings;
  for (std::size_t place = 0; place < request.over.size(); ++place) {
    const auto over = name_of(request.over[place]);
    const auto& rows = variation.rows[place];
    auto& finding = findings.emplace_back(
        Finding{.name = "variation_over_" + over, .axes = variation.axes, .named = request.measures});
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
  }
  findings.back().notes =
      "CV: standard deviation (n - 1) over mean of a subject's scores of an item, the largest first. Read it of "
      "measures whose scores are all positive only. Quantiles: so many of its scores are at most the number; they hold "
      "the noise of single cells, too.";
  return findings;
}

}  // namespace stereosweep::findings
