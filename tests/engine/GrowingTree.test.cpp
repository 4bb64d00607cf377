// Trees that texts enter and leave, against plain lists of ids.
#include "engine/causal/GrowingTree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/causal/attention/RegionAllocator.hpp"

namespace stereosweep::engine {
namespace {

using Ids = std::vector<query::TokenId>;

Ids path_to(const model::TokenTree& tree, std::int32_t branch) {
  Ids ids;
  for (; branch >= 0; branch = tree.branches.at(static_cast<std::size_t>(branch)).parent) {
    const auto& part = tree.branches[static_cast<std::size_t>(branch)];
    ids.insert(ids.begin(), tree.ids.begin() + part.first, tree.ids.begin() + part.first + part.length);
  }
  return ids;
}

void expect_well_formed(const model::TokenTree& tree) {
  std::int32_t total = 0;
  for (std::size_t i = 0; i < tree.branches.size(); ++i) {
    const auto& branch = tree.branches[i];
    ASSERT_EQ(branch.first, total);
    ASSERT_GT(branch.length, 0);
    ASSERT_LT(branch.parent, static_cast<std::int32_t>(i));
    ASSERT_EQ(branch.depth, std::ssize(path_to(tree, branch.parent)));
    total += branch.length;
  }
  ASSERT_EQ(total, std::ssize(tree.ids));
}

struct Text {
  Ids ids;
  std::int32_t branch;
  std::size_t left;
};

TEST(GrowingTree, HoldsEveryTextThroughEnteringAndLeaving) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 rng(seed);
    std::vector<Ids> prompts(25);
    for (auto& prompt : prompts) {
      prompt.resize(1 + rng() % 30);
      std::generate(prompt.begin(), prompt.end(), [&] { return static_cast<query::TokenId>(rng() % 2); });
    }
    std::sort(prompts.begin(), prompts.end());
    std::vector<const Ids*> borrowed;
    for (const auto& prompt : prompts) {
      borrowed.push_back(&prompt);
    }
    GrowingTree tree(borrowed, 1 + seed % 3);
    model::RegionAllocator slots(0, model::Placement::by_branch, model::slots_per_block);
    std::vector<Text> texts;
    std::size_t next = 0;
    std::int64_t largest = 0;
    std::int64_t bound = 0;
    while (next < prompts.size() || !texts.empty()) {
      for (; next < prompts.size() && texts.size() < 6; ++next) {
        const auto ids = Ids(prompts[next].begin(), prompts[next].end() - 1);
        texts.push_back({ids, tree.plant(next), 1 + rng() % 40});
        ASSERT_EQ(tree.missing_slots(next), 0);
        bound = std::max(bound, tree.slots_of_beginning(next));
      }
      for (auto& text : texts) {
        text.ids.push_back(static_cast<query::TokenId>(rng() % 2));
        text.branch = tree.add(text.branch, {&text.ids.back(), 1});
        --text.left;
      }
      expect_well_formed(tree.tree());
      slots.grow(tree.tree());
      largest = std::max<std::int64_t>(largest, slots.end() / model::slots_per_block);
      for (const auto& text : texts) {
        ASSERT_EQ(path_to(tree.tree(), text.branch), text.ids);
      }
      std::erase_if(texts, [](const Text& text) { return text.left == 0; });
      if (rng() % 3 == 0) {
        std::vector<std::int32_t*> tips;
        for (auto& text : texts) {
          tips.push_back(&text.branch);
        }
        const auto before = tree.tree().ids;
        const Ids before_slots(slots.slots().begin(), slots.slots().end());
        const auto order = tree.keep_only(tips, next < prompts.size() ? std::optional(next) : std::nullopt);
        slots.keep_only(order);
        expect_well_formed(tree.tree());
        ASSERT_EQ(order.size(), tree.tree().ids.size());
        std::set<std::int32_t> distinct;
        for (std::size_t i = 0; i < order.size(); ++i) {
          ASSERT_EQ(tree.tree().ids[i], before[static_cast<std::size_t>(order[i])]);
          ASSERT_EQ(slots.slots()[i], before_slots[static_cast<std::size_t>(order[i])]);
          distinct.insert(slots.slots()[i]);
        }
        ASSERT_EQ(distinct.size(), order.size());
        for (const auto& text : texts) {
          ASSERT_EQ(path_to(tree.tree(), text.branch), text.ids);
        }
      }
    }
    // Six texts at a time and some that have ended; all of them together would take three times as much.
    EXPECT_LT(largest, 25 * 4);
    EXPECT_TRUE(tree.keep_only({}, std::nullopt).empty());
    slots.keep_only({});
    EXPECT_EQ(slots.slots_in_use(), 0);
  }
}

TEST(GrowingTree, ShortCommonBeginningsRunAgain) {
  const std::vector<Ids> prompts = {{1, 5, 6, 9}, {1, 5, 7, 9}, {1, 8, 9}, {1, 8, 9}};
  const std::vector<const Ids*> borrowed = {&prompts[0], &prompts[1], &prompts[2], &prompts[3]};
  for (const auto& [least_shared, branches, rows] :
       {std::tuple(1U, 5U, 5), std::tuple(2U, 4U, 6), std::tuple(3U, 4U, 10)}) {
    GrowingTree tree(borrowed, least_shared);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const auto tip = tree.plant(i);
      EXPECT_EQ(path_to(tree.tree(), tip), Ids(prompts[i].begin(), prompts[i].end() - 1));
    }
    expect_well_formed(tree.tree());
    EXPECT_EQ(tree.tree().branches.size(), branches) << least_shared;
    EXPECT_EQ(std::ssize(tree.tree().ids), rows) << least_shared;
  }
}

TEST(GrowingTree, WhatWasAddedBecomesOneBranch) {
  const Ids prompt = {5, 6, 7};
  const std::vector<const Ids*> prompts = {&prompt, &prompt};
  GrowingTree tree(prompts, 1);
  EXPECT_EQ(tree.slots_of_beginnings(), 16);
  EXPECT_EQ(tree.missing_slots(0), 16);
  std::vector<std::int32_t> tips = {tree.plant(0), tree.plant(1)};
  EXPECT_EQ(tips[0], tips[1]);
  for (query::TokenId id = 0; id < 5; ++id) {
    tips[0] = tree.add(tips[0], {&id, 1});
    const query::TokenId other = 100 + id;
    tips[1] = id < 2 ? tips[0] : tree.add(tips[1], {&other, 1});
  }
  EXPECT_EQ(tree.tree().branches.size(), 1U + 2 + 3 + 3);
  const std::vector<std::int32_t*> both = {&tips[0], &tips[1]};
  const auto order = tree.keep_only(both, std::nullopt);
  EXPECT_EQ(order.size(), 2U + 8);
  EXPECT_EQ(tree.tree().branches.size(), 4U);  // the beginning, what both share, and each one's own
  EXPECT_THAT(path_to(tree.tree(), tips[1]), ::testing::ElementsAre(5, 6, 0, 1, 102, 103, 104));
  tree.keep_only(std::span(both).first(1), std::nullopt);
  EXPECT_EQ(tree.tree().branches.size(), 2U);
  EXPECT_THAT(path_to(tree.tree(), tips[0]), ::testing::ElementsAre(5, 6, 0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace stereosweep::engine
