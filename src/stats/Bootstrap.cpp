#include "stats/Bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "base/Check.hpp"
#include "base/Random.hpp"

namespace stereosweep::stats {
namespace {

/// Position h = (n - 1) q among the sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(std::floor(position));
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

}  // namespace

ClusterBootstrap::ClusterBootstrap(std::size_t num_clusters, std::size_t num_replicates, std::uint64_t seed,
                                   std::uint64_t stream)
    : num_clusters_(num_clusters), num_replicates_(num_replicates), times_(num_clusters * num_replicates, 0) {
  for (std::size_t replicate = 0; replicate < num_replicates; ++replicate) {
    auto* times = times_.data() + replicate * num_clusters;
    for (std::size_t draw = 0; draw < num_clusters; ++draw) {
      ++times[base::random_below(num_clusters, seed, stream ^ replicate, draw)];
    }
  }
}

std::vector<double> ClusterBootstrap::sums(std::span<const double> values, std::size_t num_columns) const {
  STEREOSWEEP_ASSERT(values.size() == num_clusters_ * num_columns, "one row of values per cluster");
  std::vector<double> result(num_replicates_ * num_columns, 0);
  for (std::size_t replicate = 0; replicate < num_replicates_; ++replicate) {
    const auto* times = times_.data() + replicate * num_clusters_;
    auto* sum = result.data() + replicate * num_columns;
    for (std::size_t cluster = 0; cluster < num_clusters_; ++cluster) {
      if (times[cluster] == 0) {
        continue;
      }
      const double weight = times[cluster];
      const auto* row = values.data() + cluster * num_columns;
      for (std::size_t column = 0; column < num_columns; ++column) {
        sum[column] += weight * row[column];
      }
    }
  }
  return result;
}

std::vector<double> crossed_means(std::span<const double> values, const ClusterBootstrap& rows,
                                  const ClusterBootstrap& columns) {
  STEREOSWEEP_ASSERT(values.size() == rows.num_clusters() * columns.num_clusters(), "a cell per row and column");
  STEREOSWEEP_ASSERT(rows.num_replicates() == columns.num_replicates(), "rows and columns are drawn together");
  std::vector<double> means(rows.num_replicates(), nan);
  for (std::size_t replicate = 0; replicate < means.size(); ++replicate) {
    const auto row_times = rows.times(replicate);
    const auto column_times = columns.times(replicate);
    double sum = 0;
    double weights = 0;
    for (std::size_t row = 0; row < row_times.size(); ++row) {
      const auto cells = values.subspan(row * column_times.size(), column_times.size());
      for (std::size_t column = 0; row_times[row] > 0 && column < cells.size(); ++column) {
        if (const double weight = std::isnan(cells[column]) ? 0 : row_times[row] * column_times[column]; weight > 0) {
          sum += weight * cells[column];
          weights += weight;
        }
      }
    }
    means[replicate] = weights > 0 ? sum / weights : nan;
  }
  return means;
}

Interval percentile_interval(std::vector<double> replicates, double confidence) {
  const auto wanted = replicates.size();
  std::erase_if(replicates, [](double value) { return !std::isfinite(value); });
  if (replicates.size() < 2 || replicates.size() * 10 < wanted * 9) {
    return {nan, nan, Reason::too_few};
  }
  std::sort(replicates.begin(), replicates.end());
  return {quantile(replicates, (1 - confidence) / 2), quantile(replicates, (1 + confidence) / 2), Reason::ok};
}

}  // namespace stereosweep::stats
