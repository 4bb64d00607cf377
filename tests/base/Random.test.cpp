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

TEST(Philox, GivesThePublishedKnownAnswers) {
  // Random123, file kat_vectors, lines "philox4x32 10"
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  constexpr auto ones = 0xffffffffU;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
  // digits of pi
  EXPECT_EQ(philox({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}),
            (PhiloxCounter{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(Philox, FillsKeyAndCounterAsStated) {
  const DrawKey draw{.seed = 0x299f31d0a4093822U,
                     .purpose = static_cast<Purpose>(0x03707344U),
                     .test = 0x13198a2eU,
                     .sample = 0x85a308d3U,
                     .word = 0x243f6a88U};
  EXPECT_EQ(philox_block(draw), (PhiloxCounter{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
  EXPECT_EQ(philox_bits(draw), 0x94fdccebd16cfe09U);
  EXPECT_EQ(philox_below(1U << 16U, draw), 0x94fdU);  // the highest bits
}

TEST(Philox, EveryPartOfTheKeyCounts) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32U}) {
    for (const auto purpose : {Purpose::context_of_word, Purpose::trimmed_set, Purpose::permutation}) {
      for (std::uint32_t i = 0; i < 1000; ++i) {
        seen.insert(
            philox_bits({.seed = seed, .purpose = purpose, .test = i % 10, .sample = i / 10 % 10, .word = i / 100}));
      }
    }
  }
  EXPECT_EQ(seen.size(), 9000U);
}

TEST(Philox, BelowIsUniformAlongWordsAndSamples) {
  std::vector<int> along_words(7, 0);
  std::vector<int> along_samples(7, 0);
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    ++along_words.at(philox_below(7, {.seed = 5, .test = 1, .sample = 2, .word = i}));
    ++along_samples.at(philox_below(7, {.seed = 5, .test = 1, .sample = i, .word = 2}));
  }
  for (int value = 0; value < 7; ++value) {  // five standard errors
    EXPECT_NEAR(along_words[static_cast<std::size_t>(value)], 10'000, 470);
    EXPECT_NEAR(along_samples[static_cast<std::size_t>(value)], 10'000, 470);
  }
  EXPECT_EQ(philox_below(1, {.seed = 5}), 0U);
}

}  // namespace

}  // namespace stereosweep::base
