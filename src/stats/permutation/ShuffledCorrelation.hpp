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

// Permutation p of the tau-b of two tables, for cells that are not independent: those of one column (a trait pair that
// the model likes for everybody) or of one row (a group that it likes in everything) move together.

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
