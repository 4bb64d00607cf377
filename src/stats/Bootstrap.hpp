// Bootstrap over clusters: whole clusters are drawn with replacement, so that what belongs together (the two sentences
// of a pair) is drawn together. Percentile intervals (Efron & Tibshirani 1993, §13.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

class ClusterBootstrap {
 public:
  /// Replicate r draws cluster random_below(clusters, seed, stream ^ r, d) for d = 0 .. clusters - 1 (base/Random.hpp).
  ClusterBootstrap(std::size_t num_clusters, std::size_t num_replicates, std::uint64_t seed, std::uint64_t stream);
  /// Nothing is drawn: every replicate has each cluster once.
  ClusterBootstrap(std::size_t num_clusters, std::size_t num_replicates)
      : num_clusters_(num_clusters), num_replicates_(num_replicates), times_(num_clusters * num_replicates, 1) {}
  std::size_t num_clusters() const { return num_clusters_; }
  std::size_t num_replicates() const { return num_replicates_; }
  /// How often a replicate drew each cluster.
  std::span<const std::uint16_t> times(std::size_t replicate) const {
    return std::span(times_).subspan(replicate * num_clusters_, num_clusters_);
  }
  /// [replicate]: how much noise of the clusters it has, over what replicates have on average: the sum of (times - 1)^2
  /// over the number of clusters less one; 0 for a single cluster.
  std::vector<double> noise_levels() const;

 private:
  std::size_t num_clusters_;
  std::size_t num_replicates_;
  std::vector<std::uint16_t> times_;  ///< [replicate, cluster]: how often it was drawn
};

/// Means of the cells that exist (NaN: none) where rows and columns are drawn independently of each other (crossed
/// random effects; Owen 2007, Annals of Applied Statistics 1, the «pigeonhole» bootstrap), [replicate]; NaN for a
/// replicate without a cell. `values` [row, column]; both draws have as many replicates. Wider than it need be where
/// rows and columns have no effects of their own. Several tables share the draws: [row, column, table] -> [replicate,
/// table].
std::vector<double> crossed_means(std::span<const double> values, const ClusterBootstrap& rows,
                                  const ClusterBootstrap& columns, std::size_t num_tables = 1);

struct Interval {
  double low;
  double high;
  Reason reason = Reason::no_values;
};

/// Position (n - 1) q among the values in their order, which is not kept; between neighbours linearly (numpy's
/// default). There is a value.
double quantile(std::vector<double>& values, double q);

/// Quantiles (1 - confidence) / 2 and (1 + confidence) / 2 of the finite replicates. Replicates without a value (NaN)
/// are left out; `too_few` where less than nine in ten have one.
Interval percentile_interval(std::vector<double> replicates, double confidence);

/// Variance of a mean, and the degrees of freedom of that variance; NaN where it is 0.
struct MeanError {
  double variance = nan;
  double degrees = nan;
};

}  // namespace stereosweep::stats
