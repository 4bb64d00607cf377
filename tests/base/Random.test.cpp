#include "base/Random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace stereosweep::base {
namespace {

TEST(Random, mixes_as_the_published_splitmix64) {
  // first outputs of splitmix64 for the state 0 (state advances by the golden ratio each time)
  EXPECT_EQ(mix_bits(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix_bits(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
}

TEST(Random, is_uniform_and_independent_of_its_neighbours) {
  constexpr int count = 200'000;
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  double streams = 0;
  for (int i = 0; i < count; ++i) {
    const double value = random_unit(7, 3, static_cast<std::uint64_t>(i));
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
    neighbours += (value - 0.5) * (random_unit(7, 3, static_cast<std::uint64_t>(i) + 1) - 0.5);
    streams += (value - 0.5) * (random_unit(7, 4, static_cast<std::uint64_t>(i)) - 0.5);
  }
  EXPECT_NEAR(sum / count, 0.5, 0.003);  // five standard errors and more
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.004);
  EXPECT_NEAR(neighbours / count, 0, 0.001);
  EXPECT_NEAR(streams / count, 0, 0.001);
}

TEST(Random, below_reaches_every_value_equally) {
  std::vector<int> counts(7, 0);
  for (std::uint64_t i = 0; i < 70'000; ++i) {
    ++counts.at(random_below(7, 1, 2, i));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 500);
  }
  EXPECT_EQ(random_below(1, 1, 2, 3), 0U);
}

TEST(Random, seed_stream_and_counter_all_count) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t stream = 0; stream < 20; ++stream) {
      for (std::uint64_t counter = 0; counter < 20; ++counter) {
        seen.insert(random_bits(seed, stream, counter));
      }
    }
  }
  EXPECT_EQ(seen.size(), 8000U);
}

}  // namespace
}  // namespace stereosweep::base
