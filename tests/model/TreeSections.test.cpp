// Sections and calls against walks up the tree.
#include "model/causal/attention/TreeSections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "model/PlantedBranch.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/RegionAllocator.hpp"

namespace stereosweep::model {
namespace {

using testing::plant_branch;

/// Children follow their parents, not always at once.
TokenTree grown_tree(unsigned seed, int branches, int longest) {
  std::mt19937 random(seed);
  TokenTree tree;
  for (int i = 0; i < branches; ++i) {
    const int parent = i == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1;
    plant_branch(tree, parent, 1 + static_cast<int>(random() % static_cast<unsigned>(longest)));
  }
  return tree;
}

/// A trunk, sentences on it, two endings of each.
TokenTree layered_tree(int sentences) {
  TokenTree tree;
  const int trunk = plant_branch(tree, -1, 50);
  for (int i = 0; i < sentences; ++i) {
    const int sentence = plant_branch(tree, trunk, 18);
    plant_branch(tree, sentence, 2);
    plant_branch(tree, sentence, 3);
  }
  return tree;
}

std::vector<std::int64_t> rows_up(const TokenTree& tree, std::int64_t row, std::int64_t window) {
  std::vector<std::int64_t> seen;
  auto number = branches_of(tree, std::vector{row}).front();
  for (auto last = row; number >= 0;) {
    const auto& branch = tree.branches[number];
    for (auto at = last; at >= branch.first; --at) {
      seen.push_back(at);
    }
    number = branch.parent;
    last = number < 0 ? 0 : tree.branches[number].first + tree.branches[number].length - 1;
  }
  if (window > 0 && std::ssize(seen) > window) {
    seen.resize(static_cast<std::size_t>(window));
  }
  return seen;
}

std::vector<std::int32_t> slots_where(const TokenTree& tree, bool shuffled) {
  std::vector<std::int32_t> slots(tree.ids.size());
  std::iota(slots.begin(), slots.end(), 5);
  if (shuffled) {  // pieces of seven rows, in a new order
    std::mt19937 random(7);
    std::vector<std::int32_t> pieces((slots.size() + 6) / 7);
    std::iota(pieces.begin(), pieces.end(), 0);
    std::ranges::shuffle(pieces, random);
    for (std::size_t row = 0; row < slots.size(); ++row) {
      slots[row] = pieces[row / 7] * 7 + static_cast<std::int32_t>(row % 7);
    }
  }
  return slots;
}

/// Slots that each query sees in one call.
std::vector<std::vector<std::int32_t>> seen_in(const SectionCall& call) {
  std::vector<std::vector<std::int32_t>> seen;
  const auto& segments = call.segments;
  for (std::size_t i = 0; i < segments.key_begin.size(); ++i) {
    const auto queries = segments.query_begin[i + 1] - segments.query_begin[i];
    for (std::int32_t query = 0; query < queries; ++query) {
      const bool before = segments.mask == SegmentMask::before;
      const auto end = before ? segments.key_count[i] - (queries - 1 - query) : segments.key_count[i];
      const auto begin = segments.window > 0 ? std::max<std::int64_t>(0, end - segments.window) : 0;
      auto& keys = seen.emplace_back();
      for (auto key = begin; key < end; ++key) {
        keys.push_back(segments.key_begin[i] + static_cast<std::int32_t>(key));
      }
    }
  }
  return seen;
}

void expect_calls_show_paths(const TokenTree& tree, std::span<const std::int32_t> slots,
                             std::span<const std::int64_t> rows, std::int64_t window, const SectionLimits& limits) {
  std::vector<std::vector<std::int32_t>> found(rows.size());
  for (const auto& call : cut_calls(find_sections(tree, slots), rows, window, limits)) {
    ASSERT_EQ(call.segments.num_queries(), std::ssize(rows));
    EXPECT_TRUE(limits.knows_windows || call.segments.window == 0);
    const auto seen = seen_in(call);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_FALSE(seen[i].empty());
      if (call.lacks.empty() || call.lacks[i] == 0) {
        found[i].insert(found[i].end(), seen[i].begin(), seen[i].end());
      } else {  // a key that does not count must be one that the row sees
        const auto path = rows_up(tree, rows[i], window);
        EXPECT_TRUE(std::ranges::any_of(path, [&](auto row) { return slots[row] == seen[i].front(); }));
      }
    }
    for (std::size_t i = 0; i + 1 < call.segments.query_begin.size(); ++i) {
      EXPECT_LE(call.segments.query_begin[i + 1] - call.segments.query_begin[i], limits.most_queries);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::int32_t> expected;
    for (const auto row : rows_up(tree, rows[i], window)) {
      expected.push_back(slots[row]);
    }
    std::ranges::sort(expected);
    std::ranges::sort(found[i]);
    EXPECT_EQ(found[i], expected) << "row " << rows[i] << ", window " << window;
  }
}

TEST(TreeSections, CallsShowEveryRowItsPathOnce) {
  for (const auto& tree : {layered_tree(3), grown_tree(1, 12, 9), grown_tree(2, 30, 3), grown_tree(3, 8, 40)}) {
    std::vector<std::int64_t> all(tree.ids.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int64_t> some;
    std::ranges::copy_if(all, std::back_inserter(some), [](auto row) { return row % 5 != 2; });
    for (const bool shuffled : {false, true}) {
      const auto slots = slots_where(tree, shuffled);
      for (const auto& rows : {all, some}) {
        for (const std::int64_t window : {0, 1, 5, 40}) {
          for (const auto& limits : {SectionLimits{128, true}, SectionLimits{4, true}, SectionLimits{128, false}}) {
            expect_calls_show_paths(tree, slots, rows, window, limits);
          }
        }
      }
    }
  }
}

/// Rows of all sections on the way up from `rows`.
std::int64_t places_seen(const TreeSections& tree, std::span<const std::int64_t> rows) {
  std::set<std::int32_t> seen;
  for (const auto row : rows) {
    for (auto number = tree.section_of[static_cast<std::size_t>(row)]; number >= 0;
         number = tree.sections[static_cast<std::size_t>(number)].parent) {
      seen.insert(number);
    }
  }
  std::int64_t places = 0;
  for (const auto number : seen) {
    places += tree.sections[static_cast<std::size_t>(number)].length;
  }
  return places;
}

// Joined sections show a row the same slots, by way of their copies. Returns whether there were any.
bool expect_joined_show_paths(const TokenTree& tree, std::span<const std::int32_t> slots,
                              std::span<const std::int64_t> rows, std::int64_t window, std::int64_t times) {
  const auto sections = find_sections(tree, slots);
  const auto joined = join_sections(sections, rows, {.times = times});
  if (!joined) {
    return false;
  }
  EXPECT_LE(std::ssize(joined->slots), times * places_seen(sections, rows));
  const auto calls = cut_calls(joined->sections, rows, window, {});
  EXPECT_TRUE(window > 0 || calls.size() < cut_calls(sections, rows, 0, {}).size());
  std::vector<std::vector<std::int32_t>> found(rows.size());
  for (const auto& call : calls) {
    const auto seen = seen_in(call);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const auto place : seen[i]) {
        if (call.lacks.empty() || call.lacks[i] == 0) {
          found[i].push_back(joined->slots.at(static_cast<std::size_t>(place)));
        }
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::int32_t> expected;
    for (const auto row : rows_up(tree, rows[i], window)) {
      expected.push_back(slots[static_cast<std::size_t>(row)]);
    }
    std::ranges::sort(expected);
    std::ranges::sort(found[i]);
    EXPECT_EQ(found[i], expected) << "row " << rows[i] << ", window " << window;
  }
  return true;
}

TEST(TreeSections, JoinedOnesShowEveryRowItsPathOnce) {
  int tried = 0;
  int joined = 0;
  for (const auto& tree : {layered_tree(3), grown_tree(1, 12, 9), grown_tree(2, 30, 3), grown_tree(3, 8, 40)}) {
    std::vector<std::int64_t> all(tree.ids.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int64_t> some;
    std::ranges::copy_if(all, std::back_inserter(some), [](auto row) { return row % 11 == 2; });
    for (const bool shuffled : {false, true}) {
      const auto slots = slots_where(tree, shuffled);
      for (const auto& rows : {all, some}) {
        for (const std::int64_t window : {0, 5, 40}) {
          for (const std::int64_t times : {1, 2, 20}) {
            ++tried;
            joined += expect_joined_show_paths(tree, slots, rows, window, times) ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(joined, tried / 2);
}

TEST(TreeSections, WhatIsLongAndSharedIsNotCopied) {
  const auto tree = layered_tree(40);
  std::vector<std::int64_t> rows(tree.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto sections = find_sections(tree, slots_where(tree, false));
  EXPECT_EQ(places_seen(sections, rows), 50 + 40 * 23);
  const auto whole = join_sections(sections, rows, {.times = 100, .most = 100'000});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->slots.size(), 50U + 40 * (68 + 70 + 71));
  EXPECT_EQ(cut_calls(whole->sections, rows, 0, {}).size(), 1U);
  const auto some = join_sections(sections, rows, {.times = 4});
  ASSERT_TRUE(some);  // sentences have a copy of the trunk, endings read theirs where it lies
  EXPECT_EQ(some->slots.size(), 50U + 40 * (68 + 2 + 3));
  EXPECT_EQ(cut_calls(some->sections, rows, 0, {}).size(), 2U);
  EXPECT_FALSE(join_sections(sections, rows, {.times = 2}));
  EXPECT_FALSE(join_sections(sections, rows, {.times = 100, .most = 2 * (50 + 40 * 23)}));
}

TEST(TreeSections, ThereAreAsManyCallsAsLevels) {
  const auto tree = layered_tree(40);
  std::vector<std::int64_t> rows(tree.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const auto calls = cut_calls(find_sections(tree, slots_where(tree, false)), rows, 0, {});
  ASSERT_EQ(calls.size(), 3U);  // their own rows, the trunk, the sentences
  EXPECT_EQ(calls[0].segments.mask, SegmentMask::before);
  EXPECT_EQ(calls[1].segments.mask, SegmentMask::all);
  EXPECT_EQ(calls[2].segments.key_count[2], 18);  // behind the trunk and the first sentence, which lack keys
  EXPECT_EQ(calls[2].segments.query_begin[3] - calls[2].segments.query_begin[2], 5);
}

// Texts of three prompts grow a token each step, two of them from the same one; ends make room for others.
TEST(TreeSections, AGrownTextIsReadInOnePiece) {
  TokenTree tree;
  std::vector<int> tips;
  for (const int length : {20, 31}) {
    tips.push_back(plant_branch(tree, -1, length, 40));
  }
  tips.push_back(tips.back());
  RegionAllocator allocator(200, Placement::by_branch);
  allocator.grow(tree);
  for (int step = 0; step < 40; ++step) {
    for (auto& tip : tips) {
      tip = plant_branch(tree, tip, 1, 39 - step);
    }
    allocator.grow(tree);
    std::vector<std::int64_t> rows;
    for (const auto tip : tips) {
      rows.push_back(tree.branches[tip].first);
    }
    const auto calls = cut_calls(find_sections(tree, allocator.slots()), rows, 0, {});
    ASSERT_EQ(calls.size(), 2U);  // the tails, of the first text with its prompt; the prompt of the other two
    EXPECT_EQ(calls[0].segments.key_begin.size(), 3U);
    EXPECT_EQ(calls[0].segments.key_count[0], 20 + step + 1);
    EXPECT_EQ(calls[0].segments.key_count[2], step + 1);
    EXPECT_EQ(calls[1].segments.key_count.back(), 31);
    expect_calls_show_paths(tree, allocator.slots(), rows, 0, {});
  }
  EXPECT_LE(allocator.end(), 200);
}

}  // namespace
}  // namespace stereosweep::model
