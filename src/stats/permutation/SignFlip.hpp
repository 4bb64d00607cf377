// Sign-flip tests of paired differences (Fisher 1935, The Design of Experiments, §21): where left and right do not
// differ, each difference is as likely of either sign. Differences that belong together are added before and flip
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// Most differences of an exact test: all 2^44 signs are counted by meeting in the middle (2^22 sums a side).
constexpr std::size_t max_exact_flips = 44;

struct SignFlipSettings {
  std::uint64_t seed = 0;
  std::uint64_t draws = 100'000;  ///< of more differences than `max_exact_flips`; below 2^32
  double confidence = 0.95;       ///< of the interval of a p that was drawn
};

struct SignFlipResult {
  double two_sided = nan;        ///< p of a sum at least as far from zero
  bool is_exact = false;         ///< counted over all signs; drawn otherwise: (reached + 1) / (draws + 1)
  ProbabilityInterval interval;  ///< of `two_sided`; the p itself where it is exact
  Reason reason = Reason::no_values;
};

/// Sums are exact integers in units of about 2^-59 of all magnitudes together; the observed signs count, within a
/// tolerance of 1e-12 of the magnitudes. `no_values` and `not_finite` (magnitudes whose sum is beyond 1e308, too) have
/// no p. Draw d is a function of (seed, d).
SignFlipResult sign_flip_test(std::span<const double> differences, const SignFlipSettings& settings);

/// Family-wise adjusted two-sided p by the step-down max-T method (Westfall and Young 1993, algorithm 4.1) of tests
/// whose differences flip together. `differences` [test, block], 0 where a test has none; the statistic is
/// |sum| / sqrt(sum of squares), which flipping leaves its scale. NaN for a test of zeros. Never below an earlier test
/// of the order; at least 1 / (draws + 1). The draws are counted in shares.
class SignFlipMaxT {
 public:
  SignFlipMaxT(std::span<const double> differences, std::size_t num_blocks, const SignFlipSettings& settings);
  /// In share `share` of `num_shares`: how many draws' maxima reach each test, in an order of its own. Counts of all
  /// shares add up to those of all draws, whatever their number.
  std::vector<std::uint64_t> reached(std::size_t share, std::size_t num_shares) const;
  /// Adjusted p [test] of the sums of all shares' counts.
  std::vector<double> adjusted(std::span<const std::uint64_t> reached) const;

 private:
  std::size_t num_blocks_;
  SignFlipSettings settings_;
  std::vector<double> scaled_;      ///< [test, block]
  std::vector<double> observed_;    ///< [test]; NaN: all differences are zero
  std::vector<std::size_t> order_;  ///< tests, the largest first
};

}  // namespace stereosweep::stats
