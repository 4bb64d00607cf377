#include "findings/Means.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
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

  /// One table's row but for its draws, how far the mean is off, and the mean without each template and each
  /// rephrasing.
  struct Described {
    MeanRow row;
    stats::MeanError error;
    std::vector<std::vector<double>> jackknives;
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
      row.low = row.high = row.low_bca = row.high_bca = least;
    }
    if (row.reason == stats::Reason::ok) {
      described.error = stats::crossed_squares(cells, num_rephrasings_).error();
      described.jackknives = {jackknife(block, table, row, num_templates_, num_rephrasings_, 1),
                              jackknife(block, table, row, num_rephrasings_, 1, num_rephrasings_)};
    }
    return described;
  }

 private:
  /// Means without each of `num` lines of the table; the cells of line n are n * stride, and on with `step`.
  std::vector<double> jackknife(const Block& block, std::size_t table, const MeanRow& row, std::size_t num,
                                std::size_t stride, std::size_t step) const {
    const auto length = num_templates_ * num_rephrasings_ / num;
    std::vector<double> sums(num, 0);  // of differences from the mean, whose sum over all lines is 0
    std::vector<double> counts(num, 0);
    for (std::size_t line = 0; line < num; ++line) {
      for (std::size_t cell = 0; cell < length; ++cell) {
        const double value = block.cells[(line * stride + cell * step) * block.num_tables + table];
        if (!std::isnan(value)) {
          sums[line] += value - row.mean;
          counts[line] += 1;
        }
      }
    }
    std::vector<double> means;
    for (std::size_t line = 0; line < num; ++line) {
      const double rest = row.num_cells - counts[line];
      means.push_back(rest > 0 ? row.mean - sums[line] / rest : stats::nan);
    }
    return means;
  }

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
  const auto rescaled = stats::rescaled_interval(own, row.mean, described.error, confidence);
  const auto corrected = stats::bca_interval(std::move(own), row.mean, described.jackknives, confidence);
  row.low = rescaled.low;
  row.high = rescaled.high;
  row.low_bca = corrected.low;
  row.high_bca = corrected.high;
  row.reason = corrected.reason;
}

void add_table(std::string& text, const Means& means, std::size_t measure, std::size_t top) {
  const auto num_rows = means.subjects.size() * means.items.size();
  const auto rows = std::span(means.rows).subspan(measure * num_rows, num_rows);
  std::vector<std::size_t> order(num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t place) { return std::isnan(rows[place].mean); });
  const auto shown = std::min(top, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown),
                            [&](std::size_t left, std::size_t right) {
                              const double left_size = std::abs(rows[left].mean);
                              const double right_size = std::abs(rows[right].mean);
                              return left_size != right_size ? left_size > right_size : left < right;
                            });
  results::TextTable table({"subject", "item", "mean", "low", "high", "low BCa", "high BCa", "cells", "coverage"});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[order[i]];
    table.add({means.subjects[order[i] / means.items.size()], means.items[order[i] % means.items.size()],
               results::significant(row.mean), results::significant(row.low), results::significant(row.high),
               results::significant(row.low_bca), results::significant(row.high_bca), std::to_string(row.num_cells),
               results::fixed(row.coverage(), 2)});
  }
  text += "\nMeans of " + means.measure_names[measure] + '\n' +
          (shown == 0 ? "no scores\n" : table.text() + results::rest_text(shown, order.size(), "means"));
}

}  // namespace

Means means_of(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  Means means{.measures = chosen_measures(scores, *comparison.means, "statistics.means"),
              .measure_names = {},
              .subjects = scores.axes[subject_axis]->labels,
              .items = scores.axes[item_axis]->labels,
              .rows = {}};
  const auto num_tables = means.subjects.size() * means.items.size();
  means.rows.reserve(means.measures.size() * num_tables);
  const auto draws = static_cast<std::size_t>(comparison.replicates);
  const stats::ClusterBootstrap templates(scores.length(template_axis), draws, seed, templates_stream);
  const stats::ClusterBootstrap rephrasings(scores.length(rephrasing_axis), draws, seed, rephrasings_stream);
  for (const auto measure : means.measures) {
    means.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
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

void write_means(results::Layout& layout, const Means& means, const sweep::Comparison& comparison) {
  const auto measure = measure_axis_of(layout, means.measures, "mean_measure");
  const std::vector<std::string> axes = {measure, results::score_axis_names[subject_axis],
                                         results::score_axis_names[item_axis]};
  const auto write = [&](const std::string& name, const char* units, const std::string& long_name, auto read) {
    layout.write(
        results::number_cube("mean_score" + name, units, long_name, *units == '\0' ? "unit: measure_units" : ""), axes,
        means.rows, read);
  };
  const auto interval =
      results::percent(comparison.confidence) + " interval, templates and rephrasings drawn with replacement";
  write("", "", "mean over templates and rephrasings, replicates averaged first", &MeanRow::mean);
  write("_low", "", "lower end of the " + interval + ", rescaled for their numbers", &MeanRow::low);
  write("_high", "", "upper end of the " + interval + ", rescaled for their numbers", &MeanRow::high);
  write("_low_bca", "", "lower end of the " + interval + ", bias-corrected and accelerated", &MeanRow::low_bca);
  write("_high_bca", "", "upper end of the " + interval + ", bias-corrected and accelerated", &MeanRow::high_bca);
  write("_n", "1", "(template, rephrasing) with a score", &MeanRow::num_cells);
  write("_coverage", "1", "share of the applicable (template, rephrasing) that have a score", &MeanRow::coverage);
  layout.write(results::flag_cube("mean_score_status", "why there is no mean or no bias-corrected interval",
                                  {"ok", "no_values", "too_few", "constant", "not_finite"}),
               axes, means.rows, &MeanRow::reason);
}

std::string means_text(const Means& means, const sweep::Comparison& comparison, std::size_t top) {
  std::string text;
  for (std::size_t measure = 0; measure < means.measures.size(); ++measure) {
    add_table(text, means, measure, top);
  }
  return text +
         results::wrapped("The largest means by size. low, high: " + results::percent(comparison.confidence) +
                          " interval over templates and rephrasings; BCa: corrected for bias and skew, and too narrow "
                          "with fewer than 20 of them. coverage: share of the applicable cells that have a score.") +
         '\n';
}

}  // namespace stereosweep::findings
