// Permutation tests by random relabelling: of one test; of several at once, with family-wise adjusted p by the
// step-down max-T method (Westfall and Young 1993, Resampling-Based Multiple Testing, algorithm 4.1), which uses how
// the tests depend on one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// One-sided, for pools too large to count, with an end that may come early.
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

/// One test: its scores, and which pool of words it is about. Tests of one pool list the same words in the same order
/// and are relabelled together; different pools are relabelled independently.
struct FamilyTest {
  std::vector<double> x;
  std::vector<double> y;
  std::uint32_t pool = 0;
};

/// Of z = (sum_X s - n mean) / sqrt(n m / N) / sd, sd with N - 1 over the pool: d sqrt(n m / N). both: its magnitude
/// counts.
enum class Tail : std::uint8_t { upper, both };

struct FamilySettings {
  std::uint64_t seed = 0;
  std::uint64_t draws = 1'000'000;  ///< below 2^32
  unsigned num_threads = 1;
  Tail tail = Tail::upper;
};

/// Adjusted p of every test: tests in the order of falling z, p_j = (#{draws: max of z over j and all later
/// ones >= z_j} + 1) / (draws + 1), then never below an earlier one. Scores finite and not all equal within a test.
std::vector<double> max_t_p(std::span<const FamilyTest> tests, const FamilySettings& settings);

}  // namespace stereosweep::stats
