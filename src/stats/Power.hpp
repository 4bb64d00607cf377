// Power of the t test of a mean of crossed cells, before there are data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "stats/CrossedTable.hpp"

namespace stereosweep::stats {

/// What is planned: a mean over rows (templates) that are crossed with `num_columns` columns (rephrasings).
struct PlannedMean {
  double mean = 0;  ///< the true one
  CrossedVariances variances;
  std::size_t num_columns = 1;
  double level = 0.05;  ///< of the two-sided p, 0 to 1
};

/// Chance that test_mean has a p of at most `level`, by the noncentral t distribution (Cohen 1988, Statistical Power
/// Analysis, ch. 2) with the degrees of freedom that the test has; with one column those of Student's t of `num_rows`
/// independent values. Whether a table's effects pass for such (evidence_level) is random: the chance is the mean over
/// both ways of rows and columns, weighed by the F distribution, with the mean squares that are expected there. 0 with
/// fewer than two rows, NaN for a mean of NaN. How near it comes: tests/bench/README.md.
double crossed_power(const PlannedMean& planned, std::size_t num_rows);

/// A number from `least` to `most` that is enough while one less is not (or is below `least`); nothing where none is
/// found, looking a quarter farther each time.
std::optional<std::size_t> fewest_enough(std::size_t least, std::size_t most, const auto& is_enough) {
  std::size_t short_of = least - 1;
  std::size_t enough = least;
  for (; !is_enough(enough); enough = std::min(most, enough + enough / 4 + 1)) {
    if (enough == most) {
      return std::nullopt;
    }
    short_of = enough;
  }
  while (enough - short_of > 1) {
    const auto middle = short_of + (enough - short_of) / 2;
    (is_enough(middle) ? enough : short_of) = middle;
  }
  return enough;
}

/// A number of rows up to `most` with at least this power while one row less has not; nothing where there is none,
/// as where few columns have effects of their own.
std::optional<std::size_t> enough_rows(const PlannedMean& planned, double power, std::size_t most);

}  // namespace stereosweep::stats
