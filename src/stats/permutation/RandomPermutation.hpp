// Permutation test by random relabelling, for pools too large to count.
#pragma once

#include <cstdint>
#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

struct MonteCarloSettings {
  std::uint64_t seed = 0;
  std::uint32_t test = 0;           ///< part of the key of the draws
  std::uint64_t draws = 1'000'000;  ///< at most; below 2^32
  std::uint64_t exceedances = 0;    ///< a p ends with the draw that brings so many; 0: all draws are made
  double confidence = 0.95;         ///< of the intervals of p
  unsigned num_threads = 1;
};

/// One-sided: draws whose sum reaches the observed one (>=, within the tolerance of FixedScores); two-sided: draws
/// whose distance from the centre does. Each p has an end of its own.
struct MonteCarloTail {
  std::uint64_t draws = 0;  ///< made, up to the one that ended it
  std::uint64_t exceedances = 0;
  bool ended_early = false;
  /// All draws: (exceedances + 1) / (draws + 1) (Phipson and Smyth 2010, SAGMB 9); after an early end: exceedances /
  /// draws (Besag and Clifford 1991, Biometrika 78). Either is at most alpha in at most a share alpha of null tests.
  double p = nan;
  ProbabilityInterval interval{nan, nan};  ///< of the p of all partitions, from the counts (Clopper and Pearson 1934)
};

struct MonteCarloResult {
  MonteCarloTail one_sided;
  MonteCarloTail two_sided;
};

/// Draw d is a function of (seed, test, d), and the ends are decided draw by draw in their order: the result does not
/// depend on the number of threads. Both sides non-empty, all scores finite.
MonteCarloResult monte_carlo_permutation(std::span<const double> x, std::span<const double> y,
                                         const MonteCarloSettings& settings);

}  // namespace stereosweep::stats
