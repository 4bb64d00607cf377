#include "stats/Bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/Random.hpp"

namespace stereosweep::stats {
namespace {

TEST(ClusterBootstrap, SumsAreThoseOfTheDrawnClusters) {
  const std::vector<double> values = {1, 10, 2, 20, 3, 30, 4, 40, 5, 50};  // 5 clusters, 2 columns
  const ClusterBootstrap bootstrap(5, 40, 11, 9);
  const auto sums = bootstrap.sums(values, 2);
  ASSERT_EQ(sums.size(), 80U);
  for (std::size_t replicate = 0; replicate < 40; ++replicate) {
    double sum = 0;
    for (std::size_t draw = 0; draw < 5; ++draw) {
      sum += values[2 * base::random_below(5, 11, 9 ^ replicate, draw)];
    }
    EXPECT_EQ(sums[2 * replicate], sum);
    EXPECT_EQ(sums[2 * replicate + 1], 10 * sum);
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
  auto means = ClusterBootstrap(n, 4000, 5, 1).sums(values, 1);
  for (auto& value : means) {
    value /= n;
  }
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

}  // namespace
}  // namespace stereosweep::stats
