// Independent units of a statistic, dealt over ranks: rank r of n computes units r, r + n, ..., and every rank gets the
// results of all, in the order of the units. A unit depends on nothing but its number, so the bits are the same for any
// number of ranks. And the score table of rank zero's file, for all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/Packing.hpp"
#include "findings/Scores.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {

/// What a unit gives, as bytes (base::ByteWriter).
using UnitBytes = std::vector<std::byte>;

/// Collective. An error of one rank is thrown by all. Kept as one piece of work.
std::vector<UnitBytes> share_bytes(const Workers& ranks, std::size_t num_units,
                                   const std::function<UnitBytes(std::size_t)>& compute);

using base::packed;
using base::unpack;

template <class Row>
std::vector<std::vector<Row>> rows_from_bytes(const std::vector<UnitBytes>& units) {
  std::vector<std::vector<Row>> results;
  for (const auto& bytes : units) {
    unpack(bytes, std::tie(results.emplace_back()));
  }
  return results;
}

/// The same of units that give rows.
template <class Row, class Compute>
std::vector<std::vector<Row>> share(const Workers& ranks, std::size_t num_units, Compute compute) {
  return rows_from_bytes<Row>(share_bytes(ranks, num_units, [&](std::size_t unit) -> UnitBytes {
    const std::vector<Row> rows = compute(unit);
    return packed(std::tie(rows));
  }));
}

/// Units are measures: `compute(values, place)` of the measures' scores and their place in `measures`. As many measures
/// are in memory as there are ranks, one on each.
std::vector<UnitBytes> share_measures(
    const Scores& scores, const std::vector<std::size_t>& measures,
    const std::function<UnitBytes(std::vector<double> values, std::size_t place)>& compute);

template <class Row, class Compute>
std::vector<std::vector<Row>> share_measures(const Scores& scores, const std::vector<std::size_t>& measures,
                                             Compute compute) {
  return rows_from_bytes<Row>(share_measures(scores, measures, [&](std::vector<double> values, std::size_t place) {
    const std::vector<Row> rows = compute(std::move(values), place);
    return packed(std::tie(rows));
  }));
}

/// stats::SignFlipMaxT, its draws dealt over the ranks. Collective.
std::vector<double> shared_max_t(const Workers& ranks, std::span<const double> differences, std::size_t num_blocks,
                                 const stats::SignFlipSettings& settings);

/// Collective where it is made and read: rank zero reads its file and sends what it read to the others.
class SharedScores {
 public:
  /// `own`: rank zero's table, which is borrowed; null on all other ranks.
  SharedScores(const Scores* own, const Workers& ranks);
  SharedScores(const SharedScores&) = delete;
  SharedScores& operator=(const SharedScores&) = delete;
  const Scores& scores() const { return scores_; }

 private:
  std::array<results::AxisSchema, 6> axes_;
  results::AxisSchema poles_;  ///< where there are some
  Scores scores_;
};

}  // namespace stereosweep::findings
