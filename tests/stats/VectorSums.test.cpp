// Sums over vectors: against long double, every length around the lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::stats {
namespace {

TEST(VectorSums, EveryLengthAgreesWithLongDouble) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (std::size_t length = 0; length < 150; ++length) {
    std::vector<float> vector(length);
    std::vector<double> other(length);
    std::vector<double> sums(length, 0.5);
    long double expected = 0;
    long double size = 1e-300L;
    for (std::size_t i = 0; i < length; ++i) {
      vector[i] = static_cast<float>(normal(random));
      other[i] = normal(random);
      expected += static_cast<long double>(vector[i]) * other[i];
      size += std::abs(static_cast<long double>(vector[i]) * other[i]);
    }
    EXPECT_LE(std::abs(dot(vector.data(), other.data(), length) - expected), 1e-15L * size) << length;
    add_scaled(vector.data(), 0.25, length, sums.data());
    for (std::size_t i = 0; i < length; ++i) {
      EXPECT_EQ(sums[i], 0.5 + static_cast<double>(vector[i]) * 0.25);  // the product is exact
    }
  }
}

TEST(VectorSums, OrderOfAdditionsIsTheDocumentedOne) {
  constexpr std::size_t length = 77;
  std::vector<float> vector(length);
  std::vector<double> other(length);
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < length; ++i) {
    vector[i] = static_cast<float>(normal(random));
    other[i] = normal(random);
  }
  double lanes[32] = {};
  for (std::size_t i = 0; i < 64; ++i) {
    const volatile double product = static_cast<double>(vector[i]) * other[i];
    lanes[i % 32] += product;
  }
  double total = 0;
  for (std::size_t lane = 0; lane < 8; ++lane) {
    total += (lanes[lane] + lanes[lane + 8]) + (lanes[lane + 16] + lanes[lane + 24]);
  }
  for (std::size_t i = 64; i < length; ++i) {
    const volatile double product = static_cast<double>(vector[i]) * other[i];
    total += product;
  }
  EXPECT_EQ(dot(vector.data(), other.data(), length), total);
}

}  // namespace
}  // namespace stereosweep::stats
