// Scores as 64-bit fixed-point numbers, so that a sum is exact and does not depend on the order in which it is formed:
// counts of a permutation test are then the same for every way to cut the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// Scores minus their mean, in units of 2^-exponent, the unit chosen so that all magnitudes together stay below 2^60.
/// Moving the origin changes no comparison: all subsets compared have the same number of scores.
struct FixedScores {
  std::vector<std::int64_t> values;  ///< x, then y
  std::size_t num_chosen = 0;        ///< size of x
  /// Least sum that counts as reaching the observed one: sum of x minus a tolerance of 1e-12 max(1, |sum of the raw
  /// x|), at least one unit per score (what rounding can move a sum by).
  std::int64_t threshold = 0;
  /// Least distance of a sum from the centre (0) that counts as reaching the observed one's: its magnitude minus the
  /// same tolerance. Zero or less: every sum does.
  std::int64_t far = 0;
  double unit = 1;  ///< 2^-exponent, in the scores' unit
};

/// Both sides non-empty, all values finite.
FixedScores fix_scores(std::span<const double> x, std::span<const double> y);

}  // namespace stereosweep::stats
