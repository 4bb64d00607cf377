#include "findings/Means.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>

#include "findings/Cells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/RateInterval.hpp"
#include "stats/VarianceComponents.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t rows_together = 64;  // computed by one rank
constexpr std::int32_t few_templates = 5;  // below it an interval says little
constexpr double rounding = 1e-12;         // of the largest score: what varies by less does not vary

class MeansOfMeasure {
 public:
  MeansOfMeasure(const Scores& scores, std::size_t measure, double confidence)
      : num_rephrasings_(scores.length(rephrasing_axis)),
        num_items_(scores.length(item_axis)),
        ends_(ends_of(*scores.axes[measure_axis], measure)),
        confidence_(confidence),
        values_(scores.read(measure)),
        statuses_(scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>()),
        cells_(scores, values_, statuses_),
        num_rows_(scores.length(subject_axis) * num_items_),
        effects_(cells_.num_sentences(), 0) {
    add_effects();
  }

  std::size_t num_rows() const { return num_rows_; }

  /// All but what compares the rows.
  MeanRow row(std::size_t place) const {
    const auto subject = place / num_items_;
    const auto item = place % num_items_;
    MeanRow row;
    std::vector<double> cells(cells_.num_sentences());
    std::vector<double> present;
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      cells[sentence] = cells_.at(subject, sentence, item);
      row.num_applicable += cells_.state(subject, sentence, item) == CellState::not_applicable ? 0 : 1;
      if (!std::isnan(cells[sentence])) {
        present.push_back(cells[sentence]);
      }
    }
    row.num_cells = static_cast<std::int32_t>(present.size());
    if (present.empty()) {
      return row;
    }
    const auto [least, most] = std::ranges::minmax(present);
    row.mean = least == most ? least : stats::mean(present).value;
    add_interval(row, cells, most - least <= rounding * std::max(std::abs(least), std::abs(most)));
    add_deviation(row, cells);
    return row;
  }

 private:
  /// What a sentence adds to all subjects and items alike, from those that have it; the mean of their means.
  void add_effects() {
    std::vector<double> means(num_rows_);
    double sum = 0;
    std::size_t num_present = 0;
    for (std::size_t place = 0; place < num_rows_; ++place) {
      const std::size_t item = place % num_items_;
      means[place] = cells_.mean(place / num_items_, {&item, 1}).value;
      sum += std::isnan(means[place]) ? 0 : means[place];
      num_present += std::isnan(means[place]) ? 0 : 1;
    }
    mean_of_all_ = sum / static_cast<double>(num_present);
    std::vector<double> counts(effects_.size(), 0);
    for (std::size_t place = 0; place < num_rows_; ++place) {
      for (std::size_t sentence = 0; sentence < effects_.size(); ++sentence) {
        const double cell = cells_.at(place / num_items_, sentence, place % num_items_);
        if (!std::isnan(cell)) {
          effects_[sentence] += cell - means[place];
          counts[sentence] += 1;
          largest_ = std::max(largest_, std::abs(cell));
        }
      }
    }
    for (std::size_t sentence = 0; sentence < effects_.size(); ++sentence) {
      effects_[sentence] /= std::max(counts[sentence], 1.0);
    }
  }

  void add_interval(MeanRow& row, const std::vector<double>& cells, bool is_constant) const {
    const auto squares = stats::crossed_squares(cells, num_rephrasings_);
    const std::int32_t fewest_cells = ends_ ? 3 : 2;
    row.reason = stats::Reason::too_few;
    if (row.num_cells < fewest_cells || squares.num_rows < 2) {
      return;
    }
    const auto error = is_constant ? stats::MeanError{0, stats::nan} : squares.error();
    if (ends_) {
      const auto interval = stats::interval_between_ends(row.mean, error, squares.num_rows, *ends_, confidence_);
      row.low = interval.low;
      row.high = interval.high;
      row.reason = interval.reason;
      return;
    }
    row.reason = is_constant ? stats::Reason::constant : stats::Reason::ok;
    if (!is_constant) {
      const auto test = stats::test_mean(row.mean, error, confidence_);
      row.low = test.low;
      row.high = test.high;
    }
  }

  void add_deviation(MeanRow& row, std::vector<double> cells) const {
    std::vector<double> present;
    for (std::size_t sentence = 0; sentence < cells.size(); ++sentence) {
      cells[sentence] -= effects_[sentence] + mean_of_all_;
      if (!std::isnan(cells[sentence])) {
        present.push_back(cells[sentence]);
      }
    }
    row.deviation = stats::mean(present).value;
    const auto [least, most] = std::ranges::minmax(present);
    const auto squares = stats::crossed_squares(cells, num_rephrasings_);
    if (squares.num_rows > 1 && most - least > rounding * largest_) {
      row.p = stats::test_mean(row.deviation, squares.error(), confidence_).p;
    }
  }

  std::size_t num_rephrasings_;
  std::size_t num_items_;
  std::optional<stats::ScaleEnds> ends_;
  double confidence_;
  std::vector<double> values_;
  std::vector<std::uint8_t> statuses_;
  Cells cells_;  ///< of both
  std::size_t num_rows_;
  std::vector<double> effects_;  ///< [sentence]
  double mean_of_all_ = stats::nan;
  double largest_ = 0;  ///< of all |cells|
};

void compare_rows(std::span<MeanRow> rows) {
  std::vector<double> p;
  std::vector<double> deviations;
  for (const auto& row : rows) {
    p.push_back(row.p);
    deviations.push_back(row.deviation);
  }
  const auto adjusted = stats::adjusted_p(p, stats::Adjustment::holm);
  const auto ranks = evidence_ranks(p, deviations);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    rows[place].p_holm = adjusted[place];
    rows[place].rank = ranks[place];
  }
}

}  // namespace

std::vector<std::int32_t> evidence_ranks(std::span<const double> p, std::span<const double> effects) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t place) {  // NaN has no order
    return std::pair(std::isnan(p[place]) ? 2 : p[place], std::isnan(effects[place]) ? 1 : -std::abs(effects[place]));
  };
  std::ranges::stable_sort(order, {}, key);
  std::vector<std::int32_t> ranks(p.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = static_cast<std::int32_t>(rank) + 1;
  }
  return ranks;
}

Means means_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto measures = chosen_measures(scores, comparison.means->measures, "statistics.means");
  Means means{
      .axes = {measure_axis_of(scores, measures, "mean_measure"), *scores.axes[subject_axis], *scores.axes[item_axis]},
      .num_templates = scores.length(template_axis),
      .rows = {}};
  for (const auto measure : measures) {
    const MeansOfMeasure of_measure(scores, measure, comparison.confidence);
    const auto num_rows = of_measure.num_rows();
    const auto rows_of_unit = [&](std::size_t unit) {
      std::vector<MeanRow> rows;
      for (auto place = unit * rows_together; place < std::min((unit + 1) * rows_together, num_rows); ++place) {
        rows.push_back(of_measure.row(place));
      }
      return rows;
    };
    const auto num_units = (num_rows + rows_together - 1) / rows_together;
    for (const auto& rows : share<MeanRow>(scores.ranks, num_units, rows_of_unit)) {
      means.rows.insert(means.rows.end(), rows.begin(), rows.end());
    }
    compare_rows(std::span(means.rows).last(num_rows));
  }
  return means;
}

Finding finding_of(const Means& means, const sweep::Comparison& comparison) {
  Finding finding{.name = "mean_score", .axes = means.axes, .named = comparison.means->measures};
  const auto interval = results::percent(comparison.confidence) + " interval over other templates and rephrasings";
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) -> Column& {
    auto& column = finding.add(role, means.rows, name, unit, what, read);
    column.note = *unit == '\0' ? "unit: measure_units" : "";
    return column;
  };
  add(Role::value, "", "", "mean over templates and rephrasings, replicates averaged first", &MeanRow::mean);
  add(Role::low, "low", "", "lower end of the " + interval, &MeanRow::low);
  add(Role::high, "high", "", "upper end of the " + interval, &MeanRow::high);
  add(Role::n, "n", "1", "(template, rephrasing) with a score", &MeanRow::num_cells);
  finding.add(Role::status, means.rows, "status", "", "why there is no mean or no interval", &MeanRow::reason);
  add(Role::value, "coverage", "1", "share of the applicable (template, rephrasing) that have a score",
      &MeanRow::coverage);
  add(Role::value, "deviation", "",
      "difference from the mean of all subjects and items on the same templates and rephrasings", &MeanRow::deviation);
  add(Role::p, "p", "1", "p of the deviation, two-sided, Student's t over templates and rephrasings", &MeanRow::p).of =
      "deviation";
  add(Role::adjusted, "p_holm", "1", "p of the deviation adjusted for all subjects and items (Holm)", &MeanRow::p_holm)
      .of = "deviation";
  add(Role::value, "rank", "1", "place in a list with the smallest p first, of equal p the largest deviation",
      &MeanRow::rank);
  finding.views = {{"Means of ",
                    {{"subject", "subject"},
                     {"item", "item"},
                     {"", "mean"},
                     {"low", "low"},
                     {"high", "high"},
                     {"n", "cells"},
                     {"coverage", "coverage"},
                     {"deviation", "from all"},
                     {"p_holm", "p Holm"}},
                    "rank"}};
  finding.notes =
      "Chosen: first those with the best evidence that they differ from the mean of all subjects and items. from all: "
      "that difference; p Holm: its p, adjusted for all of the measure from which these were chosen. low, high: " +
      results::percent(comparison.confidence) +
      " interval over other templates and rephrasings, inside the scale of the measure. coverage: share of the "
      "applicable cells that have a score.";
  if (std::cmp_less(means.num_templates, few_templates)) {
    finding.notes += " With so few templates (" + std::to_string(means.num_templates) +
                     ") intervals and p say little of other templates.";
  }
  return finding;
}

}  // namespace stereosweep::findings
