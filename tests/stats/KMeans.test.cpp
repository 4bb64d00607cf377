#include "stats/KMeans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace stereosweep::stats {
namespace {

using Start = ClusterSettings::Start;

double inertia_of(const Points& points, const std::vector<std::size_t>& labels, std::size_t num_clusters) {
  double total = 0;
  for (std::size_t c = 0; c < num_clusters; ++c) {
    for (std::size_t i = 0; i < points.num_coordinates; ++i) {
      double sum = 0;
      double squares = 0;
      double count = 0;
      for (std::size_t p = 0; p < points.size(); ++p) {
        if (labels[p] == c) {
          sum += points.at(p)[i];
          squares += points.at(p)[i] * points.at(p)[i];
          ++count;
        }
      }
      total += count > 0 ? squares - sum * sum / count : 0;
    }
  }
  return total;
}

struct Best {
  double inertia = INFINITY;
  std::vector<std::size_t> labels;
};

/// Every partition into exactly k parts, as restricted growth strings.
Best brute_force(const Points& points, std::size_t num_clusters) {
  Best best;
  std::vector<std::size_t> labels(points.size(), 0);
  const std::function<void(std::size_t, std::size_t)> place = [&](std::size_t point, std::size_t used) {
    if (point == points.size()) {
      const double inertia = used == num_clusters ? inertia_of(points, labels, num_clusters) : INFINITY;
      if (inertia < best.inertia) {
        best = {inertia, labels};
      }
      return;
    }
    for (std::size_t c = 0; c <= used && c < num_clusters; ++c) {
      labels[point] = c;
      place(point + 1, std::max(used, c + 1));
    }
  };
  place(0, 0);
  return best;
}

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (auto& value : values) {
    value = normal(random);
  }
  return values;
}

TEST(Clusters, FindTheBestOfAllPartitions) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::size_t n = 6 + seed % 4;
    const auto values = random_values(2 * n, seed);
    const Points points{values, 2};
    for (std::size_t k = 1; k <= 4; ++k) {
      const auto best = brute_force(points, k);
      for (const auto start : {Start::plus_plus, Start::random}) {
        const auto ours = cluster(points, k, {.start = start, .num_restarts = 300, .seed = seed});
        ASSERT_TRUE(ours.defined());
        EXPECT_NEAR(ours.inertia, best.inertia, 1e-12 * std::max(1.0, best.inertia)) << n << ' ' << k;
        EXPECT_EQ(ours.labels, best.labels) << "both number clusters by their first point";
        EXPECT_GE(ours.num_best, 1U);
        EXPECT_NEAR(inertia_of(points, ours.labels, k), ours.inertia, 1e-12);
      }
    }
  }
}

TEST(Clusters, AreAFunctionOfTheSeedAlone) {
  const auto values = random_values(100, 5);
  const Points points{values, 2};
  const auto once = cluster(points, 5, {.num_restarts = 50, .seed = 11});
  const auto again = cluster(points, 5, {.num_restarts = 50, .seed = 11});
  EXPECT_EQ(once.labels, again.labels);
  EXPECT_EQ(once.inertia, again.inertia);
  EXPECT_EQ(once.num_best, again.num_best);
  // One restart is rarely the best: this is why there are many.
  std::size_t worse = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto single = cluster(points, 5, {.start = Start::random, .num_restarts = 1, .seed = seed});
    worse += single.inertia > once.inertia * (1 + 1e-9) ? 1 : 0;
  }
  EXPECT_GT(worse, 10U);
}

TEST(Clusters, CentresAreMeansOfTheirPoints) {
  const auto values = random_values(90, 9);
  const Points points{values, 3};
  const auto ours = cluster(points, 4, {.num_restarts = 20});
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = 0;
      double count = 0;
      for (std::size_t p = 0; p < points.size(); ++p) {
        sum += ours.labels[p] == c ? points.at(p)[i] : 0;
        count += ours.labels[p] == c ? 1 : 0;
      }
      EXPECT_NEAR(ours.centres[c * 3 + i], sum / count, 1e-12);
    }
  }
}

TEST(Clusters, SurviveRepeatedPointsAndRefuseTooFew) {
  const std::vector<double> values = {0, 0, 0, 0, 0, 0, 1, 1, 5, 5};
  const Points points{values, 2};
  for (const auto start : {Start::plus_plus, Start::random}) {  // random starts leave clusters empty here
    const auto ours = cluster(points, 3, {.start = start, .num_restarts = 50});
    ASSERT_TRUE(ours.defined());
    EXPECT_EQ(ours.inertia, 0);
    EXPECT_THAT(ours.labels, testing::ElementsAre(0, 0, 0, 1, 2));
  }
  EXPECT_EQ(cluster(points, 4, {}).reason, Reason::too_few);
  EXPECT_EQ(cluster({{}, 2}, 1, {}).reason, Reason::no_values);
  const std::vector<double> broken = {0, NAN};
  EXPECT_EQ(cluster({broken, 1}, 1, {}).reason, Reason::not_finite);
}

TEST(Elbow, FindsTheNumberOfSeparatedBlobs) {
  for (const std::size_t blobs : {2U, 3U}) {
    auto values = random_values(2 * 20 * blobs, 3);
    for (std::size_t p = 0; p < 20 * blobs; ++p) {
      const double angle = 6.283185307179586 * static_cast<double>(p % blobs) / static_cast<double>(blobs);
      values[2 * p] += 40 * std::cos(angle);
      values[2 * p + 1] += 40 * std::sin(angle);
    }
    std::vector<double> curve;
    for (std::size_t k = 1; k <= 8; ++k) {
      curve.push_back(cluster({values, 2}, k, {.num_restarts = 30}).inertia);
      if (k > 1) {
        EXPECT_LT(curve[k - 1], curve[k - 2]);
      }
    }
    EXPECT_EQ(find_elbow(curve).kneedle, blobs);
    EXPECT_EQ(find_elbow(curve).second_difference, blobs);
  }
}

TEST(Elbow, RulesCanDisagreeAndSayWhenThereIsNone) {
  const std::vector<double> curve = {100, 50, 20, 10, 6, 4};  // bends: 20 at 2, 20 at 3, 6, 2; depth largest at 3
  EXPECT_EQ(find_elbow(curve).second_difference, 2U);
  EXPECT_EQ(find_elbow(curve).kneedle, 3U);
  EXPECT_EQ(find_elbow(std::vector<double>{3, 1}).reason, Reason::too_few);
  EXPECT_EQ(find_elbow(std::vector<double>{3, 3, 3}).reason, Reason::constant);
}

/// Hubert and Arabie by counting pairs of points one by one.
double plain_rand(const std::vector<std::size_t>& left, const std::vector<std::size_t>& right) {
  double both = 0;
  double by_left = 0;
  double by_right = 0;
  double all = 0;
  for (std::size_t first = 0; first < left.size(); ++first) {
    for (std::size_t second = first + 1; second < left.size(); ++second) {
      const bool in_left = left[first] == left[second];
      const bool in_right = right[first] == right[second];
      by_left += in_left ? 1 : 0;
      by_right += in_right ? 1 : 0;
      both += in_left && in_right ? 1 : 0;
      all += 1;
    }
  }
  const double expected = by_left * by_right / all;
  const double most = (by_left + by_right) / 2;
  return most == expected ? 1 : (both - expected) / (most - expected);
}

TEST(AdjustedRand, EqualsCountsOfPairs) {
  std::mt19937_64 generator(11);
  for (int table = 0; table < 1000; ++table) {
    const auto n = 2 + generator() % 40;
    const auto most = 1 + generator() % 6;
    std::vector<std::size_t> left;
    std::vector<std::size_t> right;
    for (std::size_t point = 0; point < n; ++point) {
      left.push_back(generator() % most);
      right.push_back(table % 3 == 0 ? left.back() : generator() % (1 + generator() % 6));
    }
    const auto ours = adjusted_rand(left, right);
    ASSERT_TRUE(ours.defined());
    EXPECT_NEAR(ours.value, plain_rand(left, right), 1e-12);
    EXPECT_EQ(adjusted_rand(right, left).value, ours.value);
  }
}

TEST(AdjustedRand, EqualsScikitLearn) {
  using Labels = std::vector<std::size_t>;
  struct Case {
    Labels left;
    Labels right;
    double index;  // sklearn.metrics.adjusted_rand_score
  };
  for (const auto& [left, right, index] : std::vector<Case>{{{0, 0, 1, 2}, {0, 0, 1, 1}, 4.0 / 7},
                                                            {{0, 0, 1, 1}, {1, 1, 0, 0}, 1},
                                                            {{0, 0, 0, 0}, {0, 1, 2, 3}, 0},
                                                            {{0, 0, 1, 1}, {0, 1, 0, 1}, -0.5},
                                                            {{0, 0, 0, 0}, {5, 5, 5, 5}, 1},
                                                            {{0, 1, 2}, {2, 0, 1}, 1}}) {
    EXPECT_NEAR(adjusted_rand(left, right).value, index, 1e-15);
  }
  EXPECT_EQ(adjusted_rand(Labels{}, Labels{}).reason, Reason::no_values);
  EXPECT_EQ(adjusted_rand(Labels{1}, Labels{1}).reason, Reason::too_few);
}

}  // namespace
}  // namespace stereosweep::stats
