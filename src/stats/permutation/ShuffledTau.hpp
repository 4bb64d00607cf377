// Permutation p of the tau-b of two tables, for cells that are not independent: those of one column (a trait pair that
// the model likes for everybody) or of one row (a group that it likes in everything) move together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// What changes places in the left table: its columns, each as a whole (the same permutation in every row), or its
/// rows.
enum class Shuffle : std::uint8_t { columns, rows };

struct ShuffleSettings {
  std::size_t draws = 10'000;
  std::uint64_t seed = 0;
  unsigned num_threads = 1;  ///< the p does not depend on it
};

/// Two-sided: 2 (b + 1) / (draws + 1), at most 1, b being the fewer of the draws whose tau-b is at least, or at most,
/// the observed one; tau-b over the cells that both tables have (NaN: none), which may be others in every draw. Holds
/// its level where the columns (rows) of one table could stand in any order; effects of rows (columns) that both tables
/// share stay in every draw, so that they do not count. Draw d is a function of (seed, d) alone.
/// `left`, `right`: [row, column]. Undefined as kendall_tau_b is, and with fewer than two columns (rows): `too_few`.
Value shuffled_tau_p(std::span<const double> left, std::span<const double> right, std::size_t num_columns,
                     Shuffle shuffle, const ShuffleSettings& settings);

}  // namespace stereosweep::stats
