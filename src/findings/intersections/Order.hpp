// How alike the scores of an intersection are to those of its parts and of the other order, and which domain's part it
// resembles more (cao2022 §5.2, Q1 and Q2; tables A8 and A9). Knows no probe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/intersections/Parts.hpp"
#include "parallel/Communicator.hpp"
#include "stats/Correlation.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Kendall's tau-b over items. An item's two scores are means over the cells in which both subjects have one.
struct OrderRow {
  stats::Correlation reversed;  ///< with the other order of the same parts
  stats::Correlation first;
  stats::Correlation second;
  /// The larger of `first` and `second`; NaN unless both exist.
  double nearer() const;
};

/// In the order of `order_comparison_names`.
constexpr std::size_t num_order_comparisons = 4;
extern const std::vector<std::string> order_comparison_names;

/// Mean over intersections of a tau-b that exists, and over how many.
struct OrderMean {
  double mean = stats::nan;
  std::int32_t num_intersections = 0;
  double mean_both_orders = stats::nan;  ///< of the intersections whose other order is scored, too
  std::int32_t num_both_orders = 0;
};

struct Order {
  std::vector<OrderRow> rows;  ///< [intersection]
  std::array<OrderMean, num_order_comparisons> means;
};

/// Collective over `ranks`, which share the intersections.
Order order_of(const CellScores& cells, const IntersectionParts& parts, const Workers& ranks);

/// Of a rule or an interval: none or which of the two domains.
enum class Dominant : std::uint8_t { neither, first, second, unknown };

/// Two domains whose groups are crossed, in the order in which the table has them first.
struct DominanceRow {
  std::string first;
  std::string second;
  double tau_first = stats::nan;   ///< mean over intersections of tau-b with the part of the first domain
  double tau_second = stats::nan;  ///< over the same intersections, those that have both
  double difference = stats::nan;  ///< of the two means
  double low = stats::nan;         ///< stats::test_cells over other groups of both domains, which are crossed
  double high = stats::nan;
  std::int32_t num_intersections = 0;  ///< both orders count
  std::int32_t num_first = 0;          ///< groups of the first domain
  std::int32_t num_second = 0;
  Dominant rule = Dominant::unknown;                ///< whose mean is larger by at least the threshold
  Dominant beyond = Dominant::unknown;              ///< on whose side of zero the whole interval lies
  stats::Reason reason = stats::Reason::no_values;  ///< why there is no interval, as CellsTest; one group in a domain
};

std::vector<DominanceRow> dominance_of(const Order& order, const IntersectionParts& parts,
                                       const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
