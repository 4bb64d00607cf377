// Independent units of a statistic, dealt over ranks: rank r of n computes units r, r + n, ..., and every rank gets the
// results of all, in the order of the units. A unit depends on nothing but its number, so the bits are the same for any
// number of ranks.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/Bytes.hpp"
#include "findings/Scores.hpp"
#include "parallel/Communicator.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {

/// What a unit gives, as bytes (base::ByteWriter).
using UnitBytes = std::vector<std::byte>;

/// Collective. An error of one rank is thrown by all.
std::vector<UnitBytes> share_bytes(const parallel::Communicator& ranks, std::size_t num_units,
                                   const std::function<UnitBytes(std::size_t)>& compute);

/// Rows of plain numbers as bytes, and back.
template <class Row>
UnitBytes bytes_of_rows(const std::vector<Row>& rows) {
  static_assert(std::is_trivially_copyable_v<Row>, "rows travel as bytes");
  const auto raw = std::as_bytes(std::span(rows));
  return {raw.begin(), raw.end()};
}
template <class Row>
std::vector<std::vector<Row>> rows_from_bytes(const std::vector<UnitBytes>& units) {
  std::vector<std::vector<Row>> results;
  for (const auto& bytes : units) {
    auto& rows = results.emplace_back(bytes.size() / sizeof(Row));
    if (!bytes.empty()) {
      std::memcpy(static_cast<void*>(rows.data()), bytes.data(), bytes.size());
    }
  }
  return results;
}

/// The same of units that give rows.
template <class Row, class Compute>
std::vector<std::vector<Row>> share(const parallel::Communicator& ranks, std::size_t num_units, Compute compute) {
  return rows_from_bytes<Row>(
      share_bytes(ranks, num_units, [&](std::size_t unit) { return bytes_of_rows<Row>(compute(unit)); }));
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
    return bytes_of_rows<Row>(compute(std::move(values), place));
  }));
}

/// stats::sign_flip_max_t, its draws dealt over the ranks. Collective.
std::vector<double> shared_max_t(const parallel::Communicator& ranks, std::span<const double> differences,
                                 std::size_t num_blocks, const stats::SignFlipSettings& settings);

}  // namespace stereosweep::findings
