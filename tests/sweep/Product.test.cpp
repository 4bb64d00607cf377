// The index space and its blocks: exhaustive on small products, sampled properties up to 2^62 contexts.
#include "sweep/Product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/Error.hpp"

namespace stereosweep::sweep {
namespace {

using testing::ElementsAre;

TEST(Product, LastAxisIsFastest) {
  const Product product({2, 3, 4});
  EXPECT_EQ(product.num_contexts(), 24u);
  EXPECT_THAT(product.coordinates(0), ElementsAre(0, 0, 0));
  EXPECT_THAT(product.coordinates(1), ElementsAre(0, 0, 1));
  EXPECT_THAT(product.coordinates(4), ElementsAre(0, 1, 0));
  EXPECT_THAT(product.coordinates(23), ElementsAre(1, 2, 3));
}

TEST(Product, RefusesMoreThanTwoToThe62) {
  const std::uint64_t half = std::uint64_t{1} << 31;
  EXPECT_EQ(Product({half, half}).num_contexts(), std::uint64_t{1} << 62);
  EXPECT_THROW(Product({half, half, 2}), base::InputError);
  EXPECT_THROW(Product({half + 1, half}), base::InputError);
  EXPECT_THROW(Product({1'000'000, 1'000'000, 1'000'000, 1'000'000}), base::InputError);
  EXPECT_THROW(Product({~std::uint64_t{0}}), base::InputError);
}

TEST(Product, AnEmptyAxisMakesItEmptyWhateverTheOthersAre) {
  EXPECT_EQ(Product({~std::uint64_t{0}, ~std::uint64_t{0}, 0}).num_contexts(), 0u);
  EXPECT_EQ(BlockPlan(Product({0, 5}), 3).num_blocks(), 0u);
}

TEST(Product, RefusesCoordinatesOutside) {
  const Product product({2, 3});
  EXPECT_THROW(product.coordinates(6), std::logic_error);
}

TEST(BlockPlan, DealtBlocksHoldContextsOfOneRound) {
  std::mt19937_64 random(3);
  for (std::uint64_t per_block = 1; per_block <= 7; ++per_block) {
    std::vector<std::uint8_t> rounds(14);
    for (auto& round : rounds) {
      round = static_cast<std::uint8_t>(random() % 4);
    }
    const auto plan = BlockPlan(Product({3, 7, 2}), per_block).dealt(rounds);
    EXPECT_TRUE(plan.is_dealt());
    EXPECT_EQ(plan.num_blocks(), 3 * plan.blocks_per_stretch());
    std::vector<int> met(42, 0);
    for (std::uint64_t index = 0; index < plan.num_blocks(); ++index) {
      const auto block = plan.block(index);
      ASSERT_GE(block.num_contexts, 1u);
      EXPECT_LE(block.num_contexts, per_block);
      const auto first = plan.context(block, 0);
      for (std::uint64_t place = 0; place < block.num_contexts; ++place) {
        const auto context = plan.context(block, place);
        ++met.at(context);
        EXPECT_EQ(context / 14, first / 14);
        EXPECT_EQ(rounds[context % 14], rounds[first % 14]);
      }
      if (index % plan.blocks_per_stretch() > 0) {
        const auto before = plan.block(index - 1);
        EXPECT_LE(rounds[plan.context(before, 0) % 14], rounds[first % 14]);
      }
    }
    EXPECT_THAT(met, testing::Each(1));
  }
  const BlockPlan plain(Product({3, 7, 2}), 4);
  EXPECT_FALSE(plain.is_dealt());
  EXPECT_EQ(plain.context(plain.block(5), 1), plain.block(5).first_context + 1);
}

TEST(BlockPlan, WhatIsNeverVisitedIsInNoBlock) {
  const std::vector<std::uint8_t> rounds = {never_visited, 1, 0, never_visited, 0, 1, 0};
  for (std::uint64_t per_block = 1; per_block <= 8; ++per_block) {
    const auto plan = BlockPlan(Product({3, 7}), per_block).dealt(rounds);
    EXPECT_EQ(plan.num_contexts(), 15u);
    std::vector<std::uint64_t> met;
    for (std::uint64_t index = 0; index < plan.num_blocks(); ++index) {
      const auto block = plan.block(index);
      for (std::uint64_t place = 0; place < block.num_contexts; ++place) {
        met.push_back(plan.context(block, place));
        EXPECT_EQ(plan.context({}, met.size() - 1), met.back());  // the same in one count of all
      }
    }
    EXPECT_THAT(met, testing::ElementsAre(2, 4, 6, 1, 5, 9, 11, 13, 8, 12, 16, 18, 20, 15, 19));
    std::uint64_t sampled = 0;
    for (const auto& block : sample_blocks(plan, 15)) {
      sampled += block.num_contexts;
    }
    EXPECT_EQ(sampled, 15u);
  }
  const std::vector<std::uint8_t> once = {never_visited, 0, 0, never_visited, 0, 0, 0};
  const std::vector<std::uint64_t> asked = {1, 2, 4, 5, 6};
  for (std::uint64_t per_block = 1; per_block <= 40; ++per_block) {  // whole values share a block that has room
    const auto plan = BlockPlan(Product({7, 7}), per_block).dealt(once, Outermost::together);
    const auto values = std::clamp<std::uint64_t>(per_block / 5, 1, 7);
    EXPECT_EQ(plan.contexts_per_stretch(), 7 * values);
    EXPECT_EQ(plan.num_blocks(), (7 + values - 1) / values * plan.blocks_per_stretch());
    std::uint64_t visit = 0;
    for (std::uint64_t index = 0; index < plan.num_blocks(); ++index) {
      const auto block = plan.block(index);
      EXPECT_LE(block.num_contexts, per_block);
      for (std::uint64_t place = 0; place < block.num_contexts; ++place, ++visit) {
        EXPECT_EQ(plan.context(block, place), visit / 5 * 7 + asked.at(visit % 5));
      }
    }
    EXPECT_EQ(visit, 35u);
    EXPECT_EQ(BlockPlan(Product({7, 7}), per_block, Outermost::together).dealt(once).contexts_per_stretch(), 7u);
  }
  EXPECT_EQ(BlockPlan(Product({3, 7}), 2).dealt(std::vector<std::uint8_t>(7, never_visited)).num_blocks(), 0u);
}

TEST(BlockPlan, CoversSmallProductsExactlyOnceInOrder) {
  for (std::uint64_t groups = 1; groups <= 4; ++groups) {
    for (std::uint64_t templates = 1; templates <= 7; ++templates) {
      for (std::uint64_t per_block = 1; per_block <= 16; ++per_block) {
        const BlockPlan plan(Product({groups, templates, 2}), per_block);
        std::uint64_t expected = 0;
        for (std::uint64_t index = 0; index < plan.num_blocks(); ++index) {
          const Block block = plan.block(index);
          EXPECT_EQ(block.index, index);
          EXPECT_EQ(block.first_context, expected);
          ASSERT_GE(block.num_contexts, 1u);
          EXPECT_LE(block.num_contexts, per_block);
          expected += block.num_contexts;
          EXPECT_EQ(plan.product().coordinates(block.first_context)[0], plan.product().coordinates(expected - 1)[0]);
        }
        EXPECT_EQ(expected, groups * templates * 2);
        EXPECT_THROW(plan.block(plan.num_blocks()), std::logic_error);
      }
    }
  }
}

TEST(BlockPlan, HugeProductsKeepTheSameProperties) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<std::uint64_t> lengths = {1 + random() % 2'000'000, 1 + random() % 100'000, 1 + random() % 1000};
    const BlockPlan plan(Product(lengths), 1 + random() % 5000);
    const std::uint64_t index = random() % plan.num_blocks();
    const Block block = plan.block(index);
    const auto first = plan.product().coordinates(block.first_context);
    EXPECT_EQ((first[0] * lengths[1] + first[1]) * lengths[2] + first[2], block.first_context);
    const auto last = plan.product().coordinates(block.first_context + block.num_contexts - 1);
    EXPECT_EQ(first[0], last[0]);
    const std::uint64_t end = block.first_context + block.num_contexts;
    const std::uint64_t next =
        index + 1 < plan.num_blocks() ? plan.block(index + 1).first_context : plan.product().num_contexts();
    EXPECT_EQ(end, next);
  }
}

TEST(BlockPlan, AGroupAddedLaterChangesNoEarlierBlock) {
  const BlockPlan before(Product({5, 35, 3}), 16);
  const BlockPlan after(Product({6, 35, 3}), 16);
  for (std::uint64_t index = 0; index < before.num_blocks(); ++index) {
    EXPECT_EQ(before.block(index).first_context, after.block(index).first_context);
    EXPECT_EQ(before.block(index).num_contexts, after.block(index).num_contexts);
  }
}

TEST(BlockPlan, WholeValuesOfTheOutermostAxisShareABlock) {
  const BlockPlan eight(Product({8, 1, 1}), 8, Outermost::together);
  ASSERT_EQ(eight.num_blocks(), 1u);
  EXPECT_EQ(eight.block(0).num_contexts, 8u);
  for (std::uint64_t groups = 1; groups <= 9; ++groups) {
    for (std::uint64_t contexts = 1; contexts <= 9; ++contexts) {
      for (std::uint64_t per_block = 1; per_block <= 20; ++per_block) {
        const Product product({groups, contexts});
        const BlockPlan plan(product, per_block, Outermost::together);
        const BlockPlan apart(product, per_block);
        const bool is_shared = per_block / contexts > 1;
        std::uint64_t expected = 0;
        for (std::uint64_t index = 0; index < plan.num_blocks(); ++index) {
          const auto block = plan.block(index);
          EXPECT_EQ(block.first_context, expected);
          ASSERT_GE(block.num_contexts, 1u);
          EXPECT_LE(block.num_contexts, per_block);
          expected += block.num_contexts;
          if (is_shared) {
            EXPECT_EQ(block.num_contexts % contexts, 0u);
            EXPECT_TRUE(expected == groups * contexts || block.num_contexts + contexts > per_block) << "there was room";
          } else {
            EXPECT_EQ(block.first_context, apart.block(index).first_context);
            EXPECT_EQ(block.num_contexts, apart.block(index).num_contexts);
          }
        }
        EXPECT_EQ(expected, groups * contexts);
        const BlockPlan longer(Product({groups + 1, contexts}), per_block, Outermost::together);
        for (std::uint64_t index = 0; index + 1 < plan.num_blocks(); ++index) {
          EXPECT_EQ(plan.block(index).num_contexts, longer.block(index).num_contexts);
        }
        const std::vector<std::uint8_t> rounds(contexts, 0);
        EXPECT_EQ(plan.dealt(rounds).num_blocks(), apart.dealt(rounds).num_blocks());
      }
    }
  }
  const std::uint64_t half = std::uint64_t{1} << 31;
  EXPECT_EQ(BlockPlan(Product({half, half}), 1'000'000, Outermost::together).block(5).num_contexts, 1'000'000u);
  EXPECT_EQ(BlockPlan(Product({half * 2, half / 2}), ~std::uint64_t{0}, Outermost::together).num_blocks(), 1u);
  EXPECT_EQ(BlockPlan(Product({0, 3}), 2, Outermost::together).num_blocks(), 0u);
}

TEST(BlockPlan, RefusesEmptyBlocks) { EXPECT_THROW(BlockPlan(Product({2, 2}), 0), base::InputError); }

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
