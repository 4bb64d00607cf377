#include "stats/Bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/VectorClones.hpp"

namespace stereosweep::stats {
namespace {

using Lanes = double __attribute__((vector_size(64)));
constexpr std::size_t lanes = 8;

/// Sums of the rows of finite `values` [cluster, column], each as often as it was drawn. Compiled with
/// -ffp-contract=off (CMakeLists.txt): some clones would fuse what the others do not.
STEREOSWEEP_VECTOR_CLONES void sum_drawn(std::span<const double> values, std::span<const std::uint16_t> times,
                                         std::span<double> sums) {
  std::size_t first = 0;
  for (; first + lanes <= sums.size(); first += lanes) {
    Lanes lane_sums = {};
    for (std::size_t cluster = 0; cluster < times.size(); ++cluster) {
      Lanes row;
      std::memcpy(&row, &values[cluster * sums.size() + first], sizeof row);
      lane_sums += row * static_cast<double>(times[cluster]);
    }
    std::memcpy(&sums[first], &lane_sums, sizeof lane_sums);
  }
  for (std::size_t cluster = 0; cluster < times.size(); ++cluster) {
    for (std::size_t column = first; column < sums.size(); ++column) {
      sums[column] += values[cluster * sums.size() + column] * times[cluster];
    }
  }
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

std::vector<double> ClusterBootstrap::noise_levels() const {
  std::vector<double> levels;
  for (std::size_t replicate = 0; replicate < num_replicates_; ++replicate) {
    std::uint64_t squares = 0;
    for (const std::int64_t times : this->times(replicate)) {
      squares += static_cast<std::uint64_t>((times - 1) * (times - 1));
    }
    levels.push_back(num_clusters_ < 2 ? 0 : static_cast<double>(squares) / static_cast<double>(num_clusters_ - 1));
  }
  return levels;
}

std::vector<double> crossed_means(std::span<const double> values, const ClusterBootstrap& rows,
                                  const ClusterBootstrap& columns, std::size_t num_tables) {
  const auto num_cells = rows.num_clusters() * columns.num_clusters();
  STEREOSWEEP_ASSERT(values.size() == num_cells * num_tables, "a cell per row, column and table");
  STEREOSWEEP_ASSERT(rows.num_replicates() == columns.num_replicates(), "rows and columns are drawn together");
  std::vector<double> filled(values.begin(), values.end());
  std::vector<double> present(values.size(), 1);
  for (std::size_t place = 0; place < filled.size(); ++place) {
    if (std::isnan(filled[place])) {
      filled[place] = present[place] = 0;
    }
  }
  const bool is_complete = !base::contains(present, 0.0);
  const auto width = columns.num_clusters() * num_tables;
  std::vector<double> means(rows.num_replicates() * num_tables, 0);
  std::vector<double> weights(num_tables);
  std::vector<double> by_column(width);
  const auto add_drawn = [&](const std::vector<double>& of_cells, std::size_t replicate, std::span<double> sums) {
    std::ranges::fill(by_column, 0);
    sum_drawn(of_cells, rows.times(replicate), by_column);  // whole rows first: their cells lie together
    sum_drawn(by_column, columns.times(replicate), sums);
  };
  for (std::size_t replicate = 0; replicate < rows.num_replicates(); ++replicate) {
    const auto sums = std::span(means).subspan(replicate * num_tables, num_tables);
    std::ranges::fill(weights, is_complete ? static_cast<double>(num_cells) : 0);
    add_drawn(filled, replicate, sums);
    if (!is_complete) {
      add_drawn(present, replicate, weights);
    }
    for (std::size_t table = 0; table < num_tables; ++table) {
      sums[table] = weights[table] > 0 ? sums[table] / weights[table] : nan;
    }
  }
  return means;
}

double quantile(std::vector<double>& values, double q) {
  const double position = static_cast<double>(values.size() - 1) * q;
  const auto below = static_cast<std::size_t>(std::floor(position));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), place, values.end());
  if (below + 1 == values.size()) {
    return *place;
  }
  const double above = *std::min_element(place + 1, values.end());
  return *place + (above - *place) * (position - static_cast<double>(below));
}

Interval percentile_interval(std::vector<double> replicates, double confidence) {
  const auto wanted = replicates.size();
  std::erase_if(replicates, [](double value) { return !std::isfinite(value); });
  if (replicates.size() < 2 || replicates.size() * 10 < wanted * 9) {
    return {nan, nan, Reason::too_few};
  }
  return {quantile(replicates, (1 - confidence) / 2), quantile(replicates, (1 + confidence) / 2), Reason::ok};
}

}  // namespace stereosweep::stats
