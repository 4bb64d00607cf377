#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Lists.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/PValues.hpp"
#include "stats/RateInterval.hpp"

namespace stereosweep::findings {
namespace {

/// Of a row, by cell; NaN where one of its subjects has no score.
struct CellDifferences {
  std::vector<double> to_first;
  std::vector<double> to_second;
  std::vector<double> beyond_sum;
};

/// Fills the row's means and counts of cells.
CellDifferences differences_of(const CellScores& cells, const IntersectionParts& parts,
                               const Intersection& intersection, std::size_t item, EmergenceRow& row) {
  const std::vector<double> none(cells.num_cells(), stats::nan);
  CellDifferences differences{none, none, none};
  row.score = row.first = row.second = 0;
  for (std::size_t cell = 0; cell < cells.num_cells(); ++cell) {
    const double score = cells.at(intersection.subject, cell, item);
    const double first = cells.at(*intersection.first, cell, item);
    const double second = cells.at(*intersection.second, cell, item);
    const double baseline = parts.baseline ? cells.at(*parts.baseline, cell, item) : 0;
    if (!std::isfinite(score + first + second + baseline)) {
      continue;
    }
    // equal scores would otherwise all differ in one direction
    const double rounding = std::numeric_limits<double>::epsilon() *
                            (std::abs(score) + std::abs(first) + std::abs(second) + std::abs(baseline));
    const auto clean = [&](double difference) { return std::abs(difference) <= rounding ? 0 : difference; };
    differences.to_first[cell] = clean(score - first);
    differences.to_second[cell] = clean(score - second);
    differences.beyond_sum[cell] = clean(score - first - second + baseline);
    row.score += score;
    row.first += first;
    row.second += second;
    ++row.num_cells;
  }
  row.score /= row.num_cells;  // NaN where there is no cell
  row.first /= row.num_cells;
  row.second /= row.num_cells;
  return differences;
}

struct TestedDifference {
  double mean = stats::nan;
  std::int32_t num_templates = 0;
  stats::CellsTest test;
};

TestedDifference tested(const std::vector<double>& differences, const CellScores& cells, double confidence) {
  const double mean = stats::mean(stats::finite(differences)).value;
  const auto squares = stats::crossed_squares(differences, cells.num_rephrasings);
  return {mean, static_cast<std::int32_t>(squares.num_rows), stats::test_cells(squares, mean, {}, confidence)};
}

EmergenceRow row_of(const CellScores& cells, const IntersectionParts& parts, const Intersection& intersection,
                    std::size_t item, double confidence) {
  EmergenceRow row;
  const auto differences = differences_of(cells, parts, intersection, item, row);
  const auto test = [&](const std::vector<double>& of_cells) { return tested(of_cells, cells, confidence); };
  const auto to_first = test(differences.to_first);
  const auto to_second = test(differences.to_second);
  const auto beyond_sum = test(differences.beyond_sum);
  row.num_templates = to_first.num_templates;
  row.emerge_max = std::min(to_first.mean, to_second.mean);
  row.emerge_min = std::max(to_first.mean, to_second.mean);
  if (row.num_templates > 1) {
    const bool has_both = !std::isnan(to_first.test.p + to_second.test.p);
    row.p = row.side() == 0 ? 1 : has_both ? std::max(to_first.test.p, to_second.test.p) : stats::nan;
  }
  row.degrees = std::fmin(to_first.test.degrees, to_second.test.degrees);
  row.reason = to_first.test.reason == stats::Reason::ok ? to_second.test.reason : to_first.test.reason;
  row.interaction = beyond_sum.mean;
  row.interaction_low = beyond_sum.test.low;
  row.interaction_high = beyond_sum.test.high;
  if (cells.ends && !std::isnan(row.interaction_low)) {
    const double baseline = parts.baseline ? 1 : 0;
    const auto& [lowest, highest] = *cells.ends;
    row.interaction_low = std::max(row.interaction_low, (1 + baseline) * lowest - 2 * highest);
    row.interaction_high = std::min(row.interaction_high, (1 + baseline) * highest - 2 * lowest);
  }
  row.interaction_p = beyond_sum.test.p;
  row.interaction_degrees = beyond_sum.test.degrees;
  row.interaction_reason = beyond_sum.test.reason;
  return row;
}

}  // namespace

std::vector<EmergenceRow> emergence_of(const CellScores& cells, const IntersectionParts& parts, double confidence,
                                       const Workers& ranks) {
  auto rows = base::joined(share<EmergenceRow>(ranks, parts.intersections.size(), [&](std::size_t place) {
    const auto& intersection = parts.intersections[place];
    std::vector<EmergenceRow> of_items(cells.num_items);
    for (std::size_t item = 0; intersection.has_parts() && item < cells.num_items; ++item) {
      of_items[item] = row_of(cells, parts, intersection, item, confidence);
    }
    return of_items;
  }));
  stats::adjust_rows(rows, &EmergenceRow::p, &EmergenceRow::p_holm, stats::Adjustment::holm);
  stats::adjust_rows(rows, &EmergenceRow::interaction_p, &EmergenceRow::interaction_p_holm, stats::Adjustment::holm);
  return rows;
}

}  // namespace stereosweep::findings
