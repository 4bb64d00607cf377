#include "findings/Means.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/CrossedTable.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t tables_together = 64;  // replicates of so many (subject, item) are held

/// The cells of some (subject, item): a table of templates and rephrasings each.
struct Block {
  std::size_t first = 0;
  std::size_t num_tables = 0;
  std::vector<double> cells;  ///< [template, rephrasing, table]; NaN: none
  std::vector<std::int32_t> num_applicable;
};

class MeansOfMeasure {
 public:
  MeansOfMeasure(const Scores& scores, std::size_t measure)
      : num_templates_(scores.length(template_axis)),
        num_rephrasings_(scores.length(rephrasing_axis)),
        num_items_(scores.length(item_axis)),
        values_(scores.read(measure)),
        statuses_(scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>()),
        cells_(scores, values_, statuses_) {}

  Block block(std::size_t first, std::size_t num_tables) const {
    const auto num_cells = num_templates_ * num_rephrasings_;
    Block block{first, num_tables, std::vector<double>(num_cells * num_tables, stats::nan),
                std::vector<std::int32_t>(num_tables, 0)};
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      for (std::size_t table = 0; table < num_tables; ++table) {
        const auto subject = (first + table) / num_items_;
        const auto item = (first + table) % num_items_;
        block.cells[cell * num_tables + table] = cells_.at(subject, cell, item);
        block.num_applicable[table] += cells_.state(subject, cell, item) == CellState::not_applicable ? 0 : 1;
      }
    }
    return block;
  }

  /// One table's row but for its interval, and how far the mean is off.
  struct Described {
    MeanRow row;
    stats::MeanError error;
  };
  Described describe(const Block& block, std::size_t table) const {
    Described described;
    auto& row = described.row;
    row.num_applicable = block.num_applicable[table];
    std::vector<double> cells;
    for (std::size_t place = table; place < block.cells.size(); place += block.num_tables) {
      cells.push_back(block.cells[place]);
    }
    std::vector<double> present;
    std::ranges::copy_if(cells, std::back_inserter(present), [](double cell) { return !std::isnan(cell); });
    row.num_cells = static_cast<std::int32_t>(present.size());
    if (present.empty()) {
      return described;
    }
    const auto [least, most] = std::ranges::minmax(present);
    row.mean = least == most ? least : stats::mean(present).value;
    row.reason = present.size() < 2 ? stats::Reason::too_few : stats::Reason::ok;
    if (present.size() > 1 && least == most) {
      row.reason = stats::Reason::constant;
      row.low = row.high = least;
    }
    if (row.reason == stats::Reason::ok) {
      described.error = stats::crossed_squares(cells, num_rephrasings_).error();
    }
    return described;
  }

 private:
  std::size_t num_templates_;
  std::size_t num_rephrasings_;
  std::size_t num_items_;
  std::vector<double> values_;
  std::vector<std::uint8_t> statuses_;
  Cells cells_;  ///< of both
};

/// The interval's ends and reason from the block's replicates [replicate, table].
void add_interval(MeansOfMeasure::Described& described, std::span<const double> replicates, std::size_t table,
                  std::size_t num_tables, double confidence) {
  std::vector<double> own;
  for (std::size_t place = table; place < replicates.size(); place += num_tables) {
    own.push_back(replicates[place]);
  }
  auto& row = described.row;
  const auto interval = stats::rescaled_interval(std::move(own), row.mean, described.error, confidence);
  row.low = interval.low;
  row.high = interval.high;
  row.reason = interval.reason;
}

}  // namespace

Means means_of(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  const auto measures = chosen_measures(scores, *comparison.means, "statistics.means");
  Means means{
      .axes = {measure_axis_of(scores, measures, "mean_measure"), *scores.axes[subject_axis], *scores.axes[item_axis]},
      .rows = {}};
  const auto num_tables = scores.length(subject_axis) * scores.length(item_axis);
  means.rows.reserve(measures.size() * num_tables);
  const auto draws = static_cast<std::size_t>(comparison.replicates);
  const stats::ClusterBootstrap templates(scores.length(template_axis), draws, seed, templates_stream);
  const stats::ClusterBootstrap rephrasings(scores.length(rephrasing_axis), draws, seed, rephrasings_stream);
  for (const auto measure : measures) {
    const MeansOfMeasure of_measure(scores, measure);
    const auto rows_of_unit = [&](std::size_t unit) {
      const auto first = unit * tables_together;
      const auto block = of_measure.block(first, std::min(tables_together, num_tables - first));
      std::vector<double> replicates;
      std::vector<MeanRow> rows;
      for (std::size_t table = 0; table < block.num_tables; ++table) {
        auto described = of_measure.describe(block, table);
        if (described.row.reason == stats::Reason::ok) {
          if (replicates.empty()) {
            replicates = stats::crossed_means(block.cells, templates, rephrasings, block.num_tables);
          }
          add_interval(described, replicates, table, block.num_tables, comparison.confidence);
        }
        rows.push_back(described.row);
      }
      return rows;
    };
    const auto num_units = (num_tables + tables_together - 1) / tables_together;
    for (const auto& rows : share<MeanRow>(scores.ranks, num_units, rows_of_unit)) {
      means.rows.insert(means.rows.end(), rows.begin(), rows.end());
    }
  }
  return means;
}

Finding finding_of(const Means& means, const sweep::Comparison& comparison) {
  Finding finding{.name = "mean_score", .axes = means.axes, .named = *comparison.means};
  const auto interval = results::percent(comparison.confidence) +
                        " interval, templates and rephrasings drawn with replacement, rescaled for their numbers";
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) {
    finding.add(role, means.rows, name, unit, what, read).note = *unit == '\0' ? "unit: measure_units" : "";
  };
  add(Role::value, "", "", "mean over templates and rephrasings, replicates averaged first", &MeanRow::mean);
  add(Role::low, "low", "", "lower end of the " + interval, &MeanRow::low);
  add(Role::high, "high", "", "upper end of the " + interval, &MeanRow::high);
  add(Role::n, "n", "1", "(template, rephrasing) with a score", &MeanRow::num_cells);
  finding.add(Role::status, means.rows, "status", "", "why there is no mean or no interval", &MeanRow::reason);
  add(Role::value, "coverage", "1", "share of the applicable (template, rephrasing) that have a score",
      &MeanRow::coverage);
  finding.views = {{"Means of ",
                    {{"subject", "subject"},
                     {"item", "item"},
                     {"", "mean"},
                     {"low", "low"},
                     {"high", "high"},
                     {"n", "cells"},
                     {"coverage", "coverage"}},
                    "-"}};
  finding.notes =
      "The largest means by size. low, high: " + results::percent(comparison.confidence) +
      " interval over templates and rephrasings. coverage: share of the applicable cells that have a score.";
  return finding;
}

}  // namespace stereosweep::findings
