// One-sided permutation test by random partitions, for pools too large to count, with an end that may come early.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

struct MonteCarloSettings {
  std::uint64_t seed = 0;
  std::uint32_t test = 0;           ///< part of the key of the draws
  std::uint64_t draws = 1'000'000;  ///< at most; below 2^32
  std::uint64_t exceedances = 0;    ///< the test ends with the draw that brings so many; 0: all draws are made
  double confidence = 0.95;         ///< of the interval of p
  unsigned num_threads = 1;
};

struct MonteCarloResult {
  enum class End : std::uint8_t { all_draws, exceedances };
  End end = End::all_draws;
  std::uint64_t draws = 0;  ///< made, up to the one that ended the test
  std::uint64_t exceedances =
      0;  ///< draws whose sum reaches the observed one (>=, within the tolerance of FixedScores)
  /// all_draws: (exceedances + 1) / (draws + 1) (Phipson and Smyth 2010, SAGMB 9); exceedances: exceedances / draws
  /// (Besag and Clifford, Biometrika 1991).
  double p = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t two_sided_exceedances =
      0;  ///< all_draws: draws whose distance from the centre reaches the observed one
  /// all_draws: (two_sided_exceedances + 1) / (draws + 1); NaN after an early end, which the one-sided count decides.
  double two_sided = std::numeric_limits<double>::quiet_NaN();
  ProbabilityInterval interval;  ///< exact interval of the p of all partitions, from the counts
};

/// Draw d is a function of (seed, test, d), and the end is decided draw by draw in their order: the result does not
/// depend on the number of threads. Both sides non-empty, all scores finite.
MonteCarloResult monte_carlo_permutation(std::span<const double> x, std::span<const double> y,
                                         const MonteCarloSettings& settings);

}  // namespace stereosweep::stats
