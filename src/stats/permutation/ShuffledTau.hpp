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
/// `blocks`: which block (from 0) each column (row) is in; those of one block then change places with one another only,
/// and blocks of one size as a whole: so p also holds its level where those of a block move together. None: they all
/// change places.
/// `left`, `right`: [row, column]. Undefined as kendall_tau_b is, and with fewer than two columns (rows): `too_few`.
Value shuffled_tau_p(std::span<const double> left, std::span<const double> right, std::size_t num_columns,
                     Shuffle shuffle, const ShuffleSettings& settings, std::span<const std::size_t> blocks = {});

/// The smallest p that shuffles of so many columns (rows) in these blocks can reach: 2 over the number of their orders,
/// or over draws + 1.
double smallest_shuffled_p(std::size_t size, std::span<const std::size_t> blocks, const ShuffleSettings& settings);

}  // namespace stereosweep::stats
