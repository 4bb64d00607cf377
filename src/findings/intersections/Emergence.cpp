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
  std::vector<std::vector<double>> to_parts;  ///< [part, cell]
  std::vector<double> beyond_sum;
};

/// Fills the row's means and counts of cells.
CellDifferences differences_of(const Cells& cells, const IntersectionParts& parts, const Intersection& intersection,
                               std::size_t item, EmergenceRow& row) {
  const std::vector<double> none(cells.num_sentences(), stats::nan);
  const auto num_parts = intersection.parts.size();
  CellDifferences differences{std::vector(num_parts, none), none};
  row.score = 0;
  std::fill_n(row.parts.begin(), num_parts, 0);
  for (std::size_t cell = 0; cell < cells.num_sentences(); ++cell) {
    const double score = cells.at(intersection.subject, cell, item);
    const double baseline = parts.baseline ? cells.at(*parts.baseline, cell, item) : 0;
    std::array<double, sweep::most_parts> of_parts{};
    double beyond_sum = score;
    double magnitude = std::abs(score);
    for (std::size_t part = 0; part < num_parts; ++part) {
      of_parts[part] = cells.at(*intersection.parts[part], cell, item);
      beyond_sum -= of_parts[part];
      magnitude += std::abs(of_parts[part]);
    }
    for (std::size_t part = 1; part < num_parts; ++part) {
      beyond_sum += baseline;
      magnitude += std::abs(baseline);
    }
    if (!std::isfinite(magnitude)) {
      continue;
    }
    // equal scores would otherwise all differ in one direction
    const double rounding = std::numeric_limits<double>::epsilon() * magnitude;
    const auto clean = [&](double difference) { return std::abs(difference) <= rounding ? 0 : difference; };
    for (std::size_t part = 0; part < num_parts; ++part) {
      differences.to_parts[part][cell] = clean(score - of_parts[part]);
      row.parts[part] += of_parts[part];
    }
    differences.beyond_sum[cell] = clean(beyond_sum);
    row.score += score;
    ++row.num_cells;
  }
  row.score /= row.num_cells;  // NaN where there is no cell
  for (auto& part : row.parts) {
    part /= row.num_cells;
  }
  return differences;
}

struct TestedDifference {
  double mean = stats::nan;
  std::int32_t num_templates = 0;
  stats::CellsTest test;
};

TestedDifference tested(const std::vector<double>& differences, const Cells& cells, double confidence) {
  const double mean = stats::mean(stats::finite(differences)).value;
  const auto squares = stats::crossed_squares(differences, cells.length(rephrasing_axis));
  return {mean, static_cast<std::int32_t>(squares.num_rows), stats::test_cells(squares, mean, {}, confidence)};
}

EmergenceRow row_of(const Cells& cells, const std::optional<stats::ScaleEnds>& ends, const IntersectionParts& parts,
                    const Intersection& intersection, std::size_t item, double confidence) {
  EmergenceRow row;
  const auto differences = differences_of(cells, parts, intersection, item, row);
  const auto test = [&](const std::vector<double>& of_cells) { return tested(of_cells, cells, confidence); };
  const auto to_parts = base::mapped(differences.to_parts, test);
  const auto beyond_sum = test(differences.beyond_sum);
  row.num_templates = to_parts.front().num_templates;
  row.emerge_max = row.emerge_min = to_parts.front().mean;
  row.beyond.reason = stats::Reason::ok;
  double largest_p = 0;
  for (const auto& to_part : to_parts) {
    row.emerge_max = std::min(row.emerge_max, to_part.mean);
    row.emerge_min = std::max(row.emerge_min, to_part.mean);
    row.beyond.degrees = std::fmin(row.beyond.degrees, to_part.test.degrees);
    row.beyond.reason = row.beyond.reason == stats::Reason::ok ? to_part.test.reason : row.beyond.reason;
    largest_p = std::isnan(to_part.test.p) ? to_part.test.p : std::max(largest_p, to_part.test.p);
  }
  if (row.num_templates > 1) {
    row.beyond.p = row.side() == 0 ? 1 : largest_p;
  }
  row.interaction = beyond_sum.mean;
  row.interaction_test = beyond_sum.test;
  auto& [p, low, high] = static_cast<stats::MeanTest&>(row.interaction_test);
  if (ends && !std::isnan(low)) {
    const auto num_parts = static_cast<double>(to_parts.size());
    const double num_added = 1 + (parts.baseline ? num_parts - 1 : 0);
    const auto& [lowest, highest] = *ends;
    low = std::max(low, num_added * lowest - num_parts * highest);
    high = std::min(high, num_added * highest - num_parts * lowest);
  }
  return row;
}

}  // namespace

std::vector<EmergenceRow> emergence_of(const Cells& cells, const std::optional<stats::ScaleEnds>& ends,
                                       const IntersectionParts& parts, double confidence, const Workers& ranks) {
  auto rows = base::joined(share<EmergenceRow>(ranks, parts.intersections.size(), [&](std::size_t place) {
    const auto& intersection = parts.intersections[place];
    std::vector<EmergenceRow> of_items(cells.length(item_axis));
    for (std::size_t item = 0; intersection.has_parts() && item < cells.length(item_axis); ++item) {
      of_items[item] = row_of(cells, ends, parts, intersection, item, confidence);
    }
    return of_items;
  }));
  const auto put = [&](stats::CellsTest EmergenceRow::*test, double EmergenceRow::*adjusted) {
    stats::adjust_rows(
        rows, [&](const EmergenceRow& row) { return (row.*test).p; }, adjusted, stats::Adjustment::holm);
  };
  put(&EmergenceRow::beyond, &EmergenceRow::p_holm);
  put(&EmergenceRow::interaction_test, &EmergenceRow::interaction_p_holm);
  return rows;
}

}  // namespace stereosweep::findings
