// How well two rankings agree: Kendall, Pearson, Spearman with p values; precision at k against human ratings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// Values of two lists in the places where both have one.
struct CommonValues {
  std::vector<double> left;
  std::vector<double> right;

  /// Left out unless both are finite.
  void add(double on_left, double on_right);
};

struct Correlation {
  double value = nan;
  double p = nan;  ///< two-sided
  std::size_t n = 0;
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// Kendall's tau-b: (C - D) / sqrt((n0 - n1)(n0 - n2)) (Kendall 1945, Biometrika 33, 239-251; counting of
/// discordant pairs: Knight 1966, JASA 61, 436-439).
/// p: exact without ties for n <= 33 or at most one discordant or concordant pair (Kendall 1970, Rank Correlation
/// Methods, §5: inversions of a random permutation), otherwise normal with the variance corrected for ties; the rule by
/// which scipy.stats.kendalltau(method="auto") chooses. No continuity correction.
/// Undefined for n < 2, a constant side, or values that are not finite. Both spans have the same length.
Correlation kendall_tau_b(std::span<const double> left, std::span<const double> right);

/// Pearson's r; p from Student's t with n - 2 degrees of freedom (1 for n = 2).
Correlation pearson(std::span<const double> left, std::span<const double> right);

/// Spearman's rho: Pearson's r of average ranks.
Correlation spearman(std::span<const double> left, std::span<const double> right);

/// P(at most `inversions` inversions) of a uniformly random permutation of n.
double inversion_probability(std::size_t n, std::uint64_t inversions);

struct Precision {
  Value top;     ///< share of the k highest scores whose human mean is above the middle
  Value bottom;  ///< share of the k lowest scores whose human mean is below the middle
  Value mean;    ///< of the two
  Value chance;  ///< of `mean` where the scores are in random order: half the share of means that are not at the middle
};

/// Rating at which people see neither pole, on the scale 0 (left pole) .. 100 (right pole).
constexpr double middle_rating = 50;

/// cao2022 §5.1, «P@3» (k = 3; its overall value is the mean of `mean` over groups). Equal scores: the earlier trait
/// pair comes first in both rankings. A human mean at the middle counts for neither. Undefined for fewer than k values.
Precision precision_at(std::size_t k, std::span<const double> scores, std::span<const double> human_means);

}  // namespace stereosweep::stats
