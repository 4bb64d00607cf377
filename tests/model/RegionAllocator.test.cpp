// Slots of growing trees: distinct, within their bound, together where that is possible.
#include "model/causal/attention/RegionAllocator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace stereosweep::model {
namespace {

TokenTree::Branch region_branch(const TokenTree& tree, std::int32_t parent, std::int32_t length, std::int32_t room) {
  TokenTree::Branch branch;
  branch.first = static_cast<std::int32_t>(tree.ids.size());
  branch.length = length;
  branch.parent = parent;
  branch.room = room;
  return branch;
}

void append(TokenTree& tree, std::int32_t parent, std::int32_t length, std::int32_t room) {
  tree.branches.push_back(region_branch(tree, parent, length, room));
  tree.ids.resize(tree.ids.size() + static_cast<std::size_t>(length));
}

void expect_distinct(const RegionAllocator& allocator) {
  const auto slots = allocator.slots();
  const std::set<std::int32_t> distinct(slots.begin(), slots.end());
  ASSERT_EQ(distinct.size(), slots.size());
  if (!distinct.empty()) {
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), allocator.end());
  }
}

TEST(RegionAllocator, ATreeOfOnePassLiesAsItComes) {
  TokenTree tree;
  append(tree, -1, 7, 0);
  append(tree, 0, 3, 9);
  append(tree, 0, 4, 0);
  RegionAllocator allocator(0, Placement::dense);
  allocator.grow(tree);
  for (std::int32_t row = 0; row < 14; ++row) {
    EXPECT_EQ(allocator.slots()[row], row);
  }
  EXPECT_EQ(allocator.end(), 14);
}

TEST(RegionAllocator, ABranchGoesOnBehindItsParent) {
  TokenTree tree;
  append(tree, -1, 10, 5);
  append(tree, -1, 10, 5);
  append(tree, 0, 2, 3);
  append(tree, 0, 1, 4);  // the second one below the first branch
  append(tree, 2, 3, 0);
  RegionAllocator allocator(0, Placement::by_branch);
  allocator.grow(tree);
  EXPECT_EQ(allocator.slots()[20], allocator.slots()[9] + 1);
  EXPECT_EQ(allocator.slots()[23], allocator.slots()[21] + 1);
  EXPECT_GE(allocator.slots()[22], 30);
  EXPECT_EQ(allocator.end(), 35);
  expect_distinct(allocator);
}

// When no gap takes a branch it is split; only when all slots are taken or kept free the room grows.
TEST(RegionAllocator, StaysWithinItsBoundWhileItCan) {
  TokenTree tree;
  for (int i = 0; i < 5; ++i) {
    append(tree, -1, 4, 0);
  }
  RegionAllocator allocator(20, Placement::by_branch);
  allocator.grow(tree);
  EXPECT_EQ(allocator.end(), 20);
  const std::vector<std::int32_t> kept{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19};  // gaps of four
  allocator.keep_only(kept);
  TokenTree rest;
  for (int i = 0; i < 3; ++i) {
    append(rest, -1, 4, 0);
  }
  append(rest, -1, 6, 10);
  allocator.grow(rest);
  EXPECT_EQ(allocator.end(), 20);
  expect_distinct(allocator);
  append(rest, -1, 5, 0);
  allocator.grow(rest);
  EXPECT_EQ(allocator.end(), 25);
  expect_distinct(allocator);
}

TEST(RegionAllocator, RoomOfAnEndedTextIsGivenAway) {
  TokenTree tree;
  append(tree, -1, 4, 10);
  append(tree, 0, 3, 7);  // a text that ends
  RegionAllocator allocator(14, Placement::by_branch);
  allocator.grow(tree);
  allocator.keep_only(std::vector<std::int32_t>{0, 1, 2, 3});
  TokenTree rest;
  append(rest, -1, 4, 0);
  append(rest, -1, 1, 9);
  allocator.grow(rest);
  EXPECT_EQ(allocator.slots()[4], 4);
  EXPECT_EQ(allocator.end(), 14);
}

TEST(RegionAllocator, SlotsStayDistinctInLongRuns) {
  std::mt19937 random(11);
  RegionAllocator allocator(300, Placement::by_branch);
  TokenTree tree;
  for (int round = 0; round < 200; ++round) {
    const auto parent = static_cast<std::int32_t>(random() % (tree.branches.size() + 1)) - 1;
    append(tree, parent, 1 + static_cast<std::int32_t>(random() % 5), static_cast<std::int32_t>(random() % 20));
    const std::vector<std::int32_t> before(allocator.slots().begin(), allocator.slots().end());
    allocator.grow(tree);
    ASSERT_EQ(std::ssize(allocator.slots()), std::ssize(tree.ids));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), allocator.slots().begin())) << "rows that stay do not move";
    expect_distinct(allocator);
    if (round % 17 == 16) {  // whole branches go, those below them too
      TokenTree next;
      std::vector<std::int32_t> rows;
      std::map<std::int32_t, std::int32_t> number_of;
      for (std::int32_t number = 0; number < std::ssize(tree.branches); ++number) {
        const auto& branch = tree.branches[number];
        if ((branch.parent >= 0 && !number_of.contains(branch.parent)) || random() % 3 == 0) {
          continue;
        }
        number_of[number] = static_cast<std::int32_t>(next.branches.size());
        append(next, branch.parent < 0 ? -1 : number_of[branch.parent], branch.length, 0);
        for (std::int32_t i = 0; i < branch.length; ++i) {
          rows.push_back(branch.first + i);
        }
      }
      allocator.keep_only(rows);
      tree = next;
      expect_distinct(allocator);
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
