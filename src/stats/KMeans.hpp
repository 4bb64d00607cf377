// k-means by many restarts, the number of clusters by the elbow of the inertia curve, agreement of two partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

/// Points [point, coordinate], row-major; not owned.
struct Points {
  std::span<const double> values;
  std::size_t num_coordinates = 0;
  std::size_t size() const { return num_coordinates == 0 ? 0 : values.size() / num_coordinates; }
  const double* at(std::size_t point) const { return values.data() + point * num_coordinates; }
};

struct ClusterSettings {
  /// `plus_plus`: Arthur and Vassilvitskii (SODA 2007); `random`: distinct points, each set of them equally likely.
  enum class Start { plus_plus, random };
  Start start = Start::plus_plus;
  std::size_t num_restarts = 1000;
  std::size_t max_iterations = 300;
  std::uint64_t seed = 0;  ///< a restart draws from (seed, k, restart): equal on every machine
};

struct Clustering {
  Reason reason = Reason::no_values;
  std::size_t num_clusters = 0;
  std::vector<std::size_t> labels;  ///< [point]; clusters are numbered by the first point in them
  std::vector<double> centres;      ///< [cluster, coordinate]
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< sum of squared distances to the own centre
  std::size_t num_best = 0;  ///< restarts that ended within 1e-9 (relative) of `inertia`
  bool defined() const { return reason == Reason::ok; }
};

/// Lloyd's iteration until no label changes; the best of all restarts. A cluster that loses its last point takes the
/// point that is farthest from its own centre. Ties go to the earlier cluster, point or restart.
/// `too_few`: fewer distinct points than clusters; `not_finite`.
Clustering cluster(const Points& points, std::size_t num_clusters, const ClusterSettings& settings);

/// Agreement of two partitions of the same points, corrected for chance (Hubert and Arabie, Journal of Classification
/// 1985): 1 for equal partitions, 0 on average for unrelated ones. `labels` are any numbers; both have the same length.
/// `no_values`: no points; `too_few`: one.
Value adjusted_rand(std::span<const std::size_t> left, std::span<const std::size_t> right);

/// Which k the inertia curve points to; both rules are reported because they can differ.
struct Elbow {
  Reason reason = Reason::no_values;
  std::size_t second_difference = 0;  ///< k with the largest I(k-1) - 2 I(k) + I(k+1)
  /// k farthest below the chord from the first to the last point, both axes scaled to [0, 1] (Kneedle without
  /// smoothing; Satopaa, Albrecht, Irwin and Raghavan, ICDCSW 2011).
  std::size_t kneedle = 0;
};

/// `inertia[i]` belongs to k = i + 1. `too_few`: fewer than three values; `constant`: the ends do not differ.
Elbow find_elbow(std::span<const double> inertia);

}  // namespace stereosweep::stats
