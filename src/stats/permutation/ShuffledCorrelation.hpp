// Permutation p and interval of a correlation, of one studentised statistic. Where two lists have nothing to do with
// each other, every pairing of their values is as likely as the observed one, and p is exact (Pitman 1937, Supplement
// to the Journal of the Royal Statistical Society 4). Divided by a standard error that does not suppose independence,
// it also holds, with many values, where they are uncorrelated but dependent: where both scatter more in the same
// places (DiCiccio and Romano 2017, JASA 112). A plain correlation reaches p <= 0.05 in up to 45 % there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Bootstrap.hpp"
#include "stats/Correlation.hpp"

namespace stereosweep::stats {

enum class CorrelationKind : std::uint8_t { spearman, pearson, kendall };

/// As stats/Correlation.hpp.
Correlation correlate(std::span<const double> left, std::span<const double> right, CorrelationKind kind);

/// Most values of which all pairings are counted: 8! = 40,320.
constexpr std::size_t max_exact_pairings = 8;

struct PairingSettings {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< draw d is a function of (seed, stream ^ d)
  std::uint64_t draws = 100'000;
  double confidence = 0.95;  ///< of both intervals
};

/// The statistic is |c| / s(0); s(rho) is the standard error of the correlation c where rho is the true one:
///   Pearson   s^2 = mean((x y - rho (x^2 + y^2) / 2)^2) / n of the standardised values x, y; s(0) as DiCiccio and
///   Romano Spearman  the same of average ranks Kendall   s^2 = (4 (n - 2) mean((c_i - rho)^2) + 2 (1 - rho^2)) / (n (n
///   - 1)), c_i: concordant minus discordant
///             share of the others for value i, over the same scale as tau-b (Hoeffding 1948, Annals of Mathematical
///             Statistics 19: variance of a U-statistic)
struct PairingP {
  /// Two-sided: share of all n! pairings that are as far from 0, or (b + 1) / (draws + 1) where it was drawn, b being
  /// those that are (within 1e-9 of it).
  double p = nan;
  bool is_exact = false;
  ProbabilityInterval p_interval{nan,
                                 nan};  ///< exact interval of the p of all pairings; the p itself where it is exact
  /// All rho with |c - rho| <= q s(rho), q the quantile of the pairings' statistics: 0 is outside where p is at most 1
  /// - confidence, and only there. `too_few`: fewer pairings than that takes. With few values it can be all of -1 .. 1.
  Interval interval{nan, nan, Reason::too_few};
};

/// One for each of `kinds`, all of the same pairings. Both lists finite, of one length, and not constant.
std::vector<PairingP> shuffled_correlation_p(std::span<const double> left, std::span<const double> right,
                                             std::span<const CorrelationKind> kinds, const PairingSettings& settings);

}  // namespace stereosweep::stats
