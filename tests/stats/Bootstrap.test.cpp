#include "stats/Bootstrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Random.hpp"
#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/PValues.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {
namespace {

TEST(ClusterBootstrap, MeansAreThoseOfTheDrawnClusters) {
  const std::vector<double> values = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};  // 5 clusters, 2 columns
  const ClusterBootstrap bootstrap(5, 40, 11, 9);
  const auto means = crossed_means(values, bootstrap, {1, 40}, 2);
  for (std::size_t replicate = 0; replicate < 40; ++replicate) {
    double sum = 0;
    for (std::size_t draw = 0; draw < 5; ++draw) {
      sum += values[2 * base::random_below(5, 11, 9 ^ replicate, draw)];
    }
    EXPECT_EQ(means[2 * replicate], sum / 5);
    EXPECT_EQ(means[2 * replicate + 1], 10 * sum / 5);
  }
}

TEST(ClusterBootstrap, IntervalOfAMeanIsTheNormalOneForManyClusters) {
  constexpr std::size_t n = 400;
  std::vector<double> values;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(base::random_unit(3, 0, i));
    sum += values.back();
    squares += values.back() * values.back();
  }
  const double mean = sum / n;
  const double error = std::sqrt((squares / n - mean * mean) / n);
  const auto means = crossed_means(values, {n, 4000, 5, 1}, {1, 4000});
  const auto interval = percentile_interval(means, 0.95);
  ASSERT_EQ(interval.reason, Reason::ok);
  EXPECT_NEAR(interval.low, mean - 1.96 * error, 0.15 * error);
  EXPECT_NEAR(interval.high, mean + 1.96 * error, 0.15 * error);
}

/// The rows or columns that a replicate draws, each as often as it is drawn.
std::vector<std::size_t> drawn(std::size_t count, std::uint64_t stream, std::size_t replicate) {
  std::vector<std::size_t> places;
  for (std::size_t draw = 0; draw < count; ++draw) {
    places.push_back(base::random_below(count, 7, stream ^ replicate, draw));
  }
  return places;
}

TEST(CrossedMeans, AreThoseOfTheDrawnRowsAndColumns) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr std::size_t num_replicates = 60;
  for (const std::size_t num_columns : {std::size_t{1}, std::size_t{4}}) {
    constexpr std::size_t num_rows = 6;
    for (const std::uint64_t missing : {0U, 3U, 7U, 10U}) {  // cells in ten
      std::vector<double> values;
      for (std::size_t cell = 0; cell < num_rows * num_columns; ++cell) {
        values.push_back(base::random_below(10, 1, missing, cell) < missing ? none : base::random_unit(2, 0, cell));
      }
      const auto means = crossed_means(values, ClusterBootstrap(num_rows, num_replicates, 7, 1U << 20U),
                                       ClusterBootstrap(num_columns, num_replicates, 7, 1U << 21U));
      ASSERT_EQ(means.size(), num_replicates);
      for (std::size_t replicate = 0; replicate < num_replicates; ++replicate) {
        double sum = 0;
        double count = 0;
        for (const auto row : drawn(num_rows, 1U << 20U, replicate)) {
          for (const auto column : drawn(num_columns, 1U << 21U, replicate)) {
            const double value = values[row * num_columns + column];
            sum += std::isnan(value) ? 0 : value;
            count += std::isnan(value) ? 0 : 1;
          }
        }
        if (count > 0) {
          EXPECT_NEAR(means[replicate], sum / count, 1e-14);
        } else {
          EXPECT_TRUE(std::isnan(means[replicate]));
        }
      }
    }
  }
}

TEST(PercentileInterval, InterpolatesAsNumpy) {
  // numpy.quantile([1, 2, 3, 4], [0.05, 0.95]) = 1.15, 3.85
  const auto interval = percentile_interval({4, 1, 3, 2}, 0.9);
  EXPECT_NEAR(interval.low, 1.15, 1e-12);
  EXPECT_NEAR(interval.high, 3.85, 1e-12);
}

TEST(PercentileInterval, SaysWhenTooFewReplicatesHaveAValue) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(percentile_interval({}, 0.9).reason, Reason::too_few);
  EXPECT_EQ(percentile_interval({1, nan, 2}, 0.9).reason, Reason::too_few);
  EXPECT_TRUE(std::isnan(percentile_interval({1, nan, 2}, 0.9).low));
  EXPECT_EQ(percentile_interval({1, 2, 3, 4, 5, 6, 7, 8, 9, nan}, 0.9).reason, Reason::ok);
}

TEST(PercentileInterval, IsThatOfTheSortedReplicates) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<double> replicates;
    const auto n = 2 + base::random_below(50, seed, 0, 0);
    for (std::uint64_t i = 0; i < n; ++i) {
      replicates.push_back(static_cast<double>(base::random_below(seed % 2 == 0 ? 4 : 1'000'000, seed, 1, i)));
    }
    const auto interval = percentile_interval(replicates, 0.8);
    std::sort(replicates.begin(), replicates.end());
    const auto quantile = [&](double q) {
      const double position = q * static_cast<double>(n - 1);
      const auto below = static_cast<std::size_t>(position);
      const double above = replicates[std::min<std::size_t>(below + 1, n - 1)];
      return replicates[below] + (above - replicates[below]) * (position - std::floor(position));
    };
    EXPECT_NEAR(interval.low, quantile(0.1), 1e-9 * (1 + std::abs(interval.low)));
    EXPECT_NEAR(interval.high, quantile(0.9), 1e-9 * (1 + std::abs(interval.high)));
  }
}

TEST(CrossedMeans, AreThoseOfTheDrawnRowsAndColumnsInEveryTable) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto num_rows = 1 + base::random_below(5, seed, 1, 0);
    const auto num_columns = 1 + base::random_below(4, seed, 2, 0);
    const auto num_tables = 1 + base::random_below(3, seed, 3, 0);
    std::vector<double> values;
    for (std::uint64_t i = 0; i < num_rows * num_columns * num_tables; ++i) {
      const bool is_missing = seed % 3 != 0 && base::random_unit(seed, 4, i) < 0.4;
      values.push_back(is_missing ? nan : base::random_unit(seed, 5, i) - 0.5);
    }
    const ClusterBootstrap rows(num_rows, 30, seed, 64);
    const ClusterBootstrap columns(num_columns, 30, seed, 128);
    const auto means = crossed_means(values, rows, columns, num_tables);
    ASSERT_EQ(means.size(), 30 * num_tables);
    for (std::uint64_t replicate = 0; replicate < 30; ++replicate) {
      for (std::uint64_t table = 0; table < num_tables; ++table) {
        double sum = 0;
        int count = 0;
        for (std::uint64_t i = 0; i < num_rows; ++i) {
          for (std::uint64_t j = 0; j < num_columns; ++j) {
            const auto row = base::random_below(num_rows, seed, 64 ^ replicate, i);
            const auto column = base::random_below(num_columns, seed, 128 ^ replicate, j);
            const double value = values[(row * num_columns + column) * num_tables + table];
            if (!std::isnan(value)) {
              sum += value;
              ++count;
            }
          }
        }
        const double mean = means[replicate * num_tables + table];
        if (count == 0) {
          EXPECT_TRUE(std::isnan(mean));
        } else {
          EXPECT_NEAR(mean, sum / count, 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::stats
