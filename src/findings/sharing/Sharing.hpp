// Independent units of a statistic, dealt over ranks: rank r of n computes units r, r + n, ..., and every rank gets the
// results of all, in the order of the units. A unit depends on nothing but its number, so the bits are the same for any
// number of ranks. And the score table of rank zero's file, for all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
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

/// The same of units that give rows.
template <class Row, class Compute>
std::vector<std::vector<Row>> share(const Workers& ranks, std::size_t num_units, Compute compute) {
  std::vector<std::vector<Row>> results;
  for (const auto& bytes : share_bytes(ranks, num_units, [&](std::size_t unit) -> UnitBytes {
         const std::vector<Row> rows = compute(unit);
         return packed(std::tie(rows));
       })) {
    unpack(bytes, std::tie(results.emplace_back()));
  }
  return results;
}

/// Units are measures: `compute(values, place)` of the measures' scores and their place in `measures`. As many measures
/// are in memory as there are ranks, one on each.
template <class Row, class Compute>
std::vector<std::vector<Row>> share_measures(const Scores& scores, const std::vector<std::size_t>& measures,
                                             Compute compute) {
  const auto step = static_cast<std::size_t>(scores.ranks.size());
  std::vector<std::vector<Row>> results;
  for (std::size_t first = 0; first < measures.size(); first += step) {
    const auto count = std::min(step, measures.size() - first);
    std::vector<double> own;
    for (std::size_t unit = 0; unit < count; ++unit) {
      auto values = scores.read(measures[first + unit]);
      if (std::cmp_equal(unit, scores.ranks.rank())) {
        own = std::move(values);
      }
    }
    std::ranges::move(
        share<Row>(scores.ranks, count, [&](std::size_t unit) { return compute(std::move(own), first + unit); }),
        std::back_inserter(results));
  }
  return results;
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
