#include "sweep/BlockSample.hpp"

#include <gtest/gtest.h>

namespace stereosweep::sweep {
namespace {

TEST(BlockSample, ASmallProductIsReadWhole) {
  const BlockPlan blocks(Product({3, 10}), 4);
  const auto sample = sample_blocks(blocks, 30);
  ASSERT_EQ(sample.size(), blocks.num_blocks());
  for (std::uint64_t i = 0; i < sample.size(); ++i) {
    EXPECT_EQ(sample[i].index, i);
  }
}

TEST(BlockSample, ALargeOneIsSpreadOut) {
  const BlockPlan blocks(Product({1000, 1000}), 10);
  const auto sample = sample_blocks(blocks, 1000);
  ASSERT_EQ(sample.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(sample[i].index / 1000, i) << "one in each of a hundred equal parts";
  }
  EXPECT_EQ(sample_blocks(BlockPlan(Product({1, 5000}), 5000), 100).front().num_contexts, 100U);
}

}  // namespace
}  // namespace stereosweep::sweep
