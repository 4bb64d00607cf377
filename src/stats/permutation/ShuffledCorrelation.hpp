// Permutation p of a correlation: where two lists have nothing to do with each other, every pairing of their values is
// as likely as the observed one (Pitman 1937, Supplement to the Journal of the Royal Statistical Society 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Agreement.hpp"

namespace stereosweep::stats {

enum class CorrelationKind : std::uint8_t { spearman, pearson, kendall };

/// As stats/Agreement.hpp.
Correlation correlate(std::span<const double> left, std::span<const double> right, CorrelationKind kind);

/// Most values of which all pairings are counted: 8! = 40,320.
constexpr std::size_t max_exact_pairings = 8;

struct PairingSettings {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< draw d is a function of (seed, stream ^ d)
  std::uint64_t draws = 100'000;
  double confidence = 0.95;  ///< of the interval of a p that was drawn
};

struct PairingP {
  /// Two-sided: 2 b / n!, or 2 (b + 1) / (draws + 1) where it was drawn, at most 1; b being the fewer of the pairings
  /// whose correlation is at least, or at most, the observed one (within 1e-12). As scipy.stats.permutation_test.
  double p = nan;
  bool is_exact = false;
  ProbabilityInterval interval{nan, nan};  ///< exact interval of the p of all pairings; the p itself where it is exact
};

/// One for each of `kinds`, all of the same pairings. Both lists finite, of one length, and not constant.
std::vector<PairingP> shuffled_correlation_p(std::span<const double> left, std::span<const double> right,
                                             std::span<const CorrelationKind> kinds, const PairingSettings& settings);

}  // namespace stereosweep::stats
