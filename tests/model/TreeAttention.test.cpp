// Attention over trees, both ways, against float64 attention path by path; what prepares it against brute force.
#include "model/causal/attention/TreeAttention.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "model/PlantedBranch.hpp"
#include "model/ProductRows.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/RegionAllocator.hpp"
#include "model/causal/attention/TileAttention.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/VectorLanes.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::agree;
using stereosweep::testing::draw_from;
using testing::plant_branch;
using testing::rows_of_products;

TokenTree random_tree(unsigned seed, int branches, int longest) {
  std::mt19937 random(seed);
  TokenTree tree;
  for (int i = 0; i < branches; ++i) {
    const int parent = i == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1;
    plant_branch(tree, parent, 1 + static_cast<int>(random() % static_cast<unsigned>(longest)));
  }
  return tree;
}

std::vector<TokenTree> trees() {
  std::vector<TokenTree> all;
  TokenTree single;
  plant_branch(single, -1, 1);
  all.push_back(single);
  TokenTree trunk;  // paths up to 300 with twigs of all small lengths
  const int root = plant_branch(trunk, -1, 270);
  for (int length = 1; length <= 12; ++length) {
    const int branch = plant_branch(trunk, root, length);
    plant_branch(trunk, branch, 18);
    plant_branch(trunk, branch, 1);
  }
  all.push_back(trunk);
  all.push_back(random_tree(1, 12, 9));
  all.push_back(random_tree(2, 30, 3));
  all.push_back(random_tree(3, 8, 40));
  TokenTree lonely;  // nothing is shared
  for (int length = 1; length <= 33; length += 4) {
    plant_branch(lonely, -1, length);
  }
  all.push_back(lonely);
  return all;
}

std::vector<std::int64_t> all_rows(const TokenTree& tree) {
  std::vector<std::int64_t> rows(tree.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Rows that `row` sees, by walking up from it.
std::vector<std::int64_t> visible(const TokenTree& tree, std::int64_t row, std::int64_t window) {
  int number = 0;
  while (tree.branches[number].first + tree.branches[number].length <= row) {
    ++number;
  }
  std::vector<std::int64_t> seen;
  auto last = row;
  while (number >= 0) {
    for (auto at = last; at >= tree.branches[number].first; --at) {
      seen.push_back(at);
    }
    number = tree.branches[number].parent;
    last = number < 0 ? 0 : tree.branches[number].first + tree.branches[number].length - 1;
  }
  if (window > 0 && std::ssize(seen) > window) {
    seen.resize(static_cast<std::size_t>(window));
  }
  std::reverse(seen.begin(), seen.end());
  return seen;
}

std::int64_t depth_of(const TokenTree& tree, std::int64_t row) { return std::ssize(visible(tree, row, 0)) - 1; }

struct Case {
  CausalSpecification rule;
  std::vector<at::Tensor> sinks = {};
  std::int64_t window = 0;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::int64_t heads, std::int64_t key_heads, std::int64_t width, std::int64_t window = 0,
                       float softcap = 0) {
    Case one;
    one.rule.num_heads = heads;
    one.rule.num_key_heads = key_heads;
    one.rule.head_width = width;
    one.rule.attention_softcap = softcap;
    one.window = window;
    all.push_back(one);
  };
  add(3, 3, 64);
  add(12, 4, 64);
  add(8, 1, 20, 7);
  add(4, 2, 128, 1);
  add(7, 1, 5);
  add(2, 2, 80, 33, 1.5F);
  add(10, 2, 36, 0, 0.7F);
  add(5, 5, 96);
  add(1, 1, 1);
  for (const float alibi_scale : {1.0F, 0.3F}) {
    add(4, 2, 40);
    all.back().rule.alibi_slopes = {0.5F, 0.35351562F, 0.0625F, 0.703125F};
    all.back().rule.alibi_scale = alibi_scale;
  }
  add(8, 2, 16, 9);
  all.back().sinks.assign(2, at::tensor({0.5F, -3.0F, 2.0F, 40.0F, -200.0F, 0.0F, 1.0F, 5.0F}));
  add(3, 3, 24);
  all.back().sinks.assign(2, at::tensor({0.5F, 3.0F, -1.0F}));
  return all;
}

at::Tensor plain_attention(const TokenTree& tree, std::span<const std::int64_t> rows, const Case& one,
                           const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double scale) {
  const auto& rule = one.rule;
  const auto group = rule.num_heads / rule.num_key_heads;
  auto out = at::empty({std::ssize(rows), rule.num_heads * rule.head_width}, at::kDouble);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto seen = visible(tree, rows[i], one.window);
    const auto keys = key.index_select(0, at::tensor(seen)).to(at::kDouble);
    const auto values = value.index_select(0, at::tensor(seen)).to(at::kDouble);
    const auto first = depth_of(tree, seen.front());
    for (std::int64_t head = 0; head < rule.num_heads; ++head) {
      const auto part = [&](const at::Tensor& all, std::int64_t number) {
        return all.slice(-1, number * rule.head_width, (number + 1) * rule.head_width);
      };
      const auto q = part(query[static_cast<std::int64_t>(i)].to(at::kDouble), head);
      auto scores = at::matmul(part(keys, head / group), q);
      if (!rule.alibi_slopes.empty()) {
        std::vector<double> bias;
        for (std::size_t j = 0; j < seen.size(); ++j) {
          const c10::BFloat16 place(static_cast<float>(first + static_cast<std::int64_t>(j)));
          bias.push_back(c10::BFloat16(rule.alibi_slopes[head] * static_cast<float>(place)));
        }
        const auto added = at::tensor(bias, at::kDouble);
        scores = scores.mul(scale).add(added, rule.alibi_scale);
      } else {
        scores = scores.mul(scale);
      }
      if (rule.attention_softcap > 0) {
        const double cap = rule.attention_softcap;
        scores = scores.div(cap).tanh().mul(cap);
      }
      if (!one.sinks.empty()) {
        scores = at::cat({scores, one.sinks.front().slice(0, head, head + 1).to(at::kDouble)});
      }
      const auto weights = at::softmax(scores, 0).slice(0, 0, std::ssize(seen));
      part(out[static_cast<std::int64_t>(i)], head).copy_(at::matmul(weights, part(values, head / group)));
    }
  }
  return out;
}

double largest_difference(const at::Tensor& left, const at::Tensor& right) {
  return left.to(at::kDouble).sub(right.to(at::kDouble)).abs().max().item<double>();
}

// Of a large tree every eleventh: plain attention is slow.
std::vector<std::int64_t> checked_rows(std::int64_t count) {
  std::vector<std::int64_t> checked;
  for (std::int64_t row = 0; row<count; row += count> 200 ? 11 : 1) {
    checked.push_back(row);
  }
  return checked;
}

TEST(TreeAttention, BothWaysAgreeWithPlainAttention) {
  for (const auto& tree : trees()) {
    const auto rows = all_rows(tree);
    const auto checked = checked_rows(std::ssize(rows));
    const auto index = at::tensor(checked);
    for (const auto& one : cases()) {
      const float scale = 1.7F / std::sqrt(static_cast<float>(one.rule.head_width));
      for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        if (type == at::kHalf && rows.size() > 200) {
          continue;  // the plain one takes seconds
        }
        draw_from(1);
        const auto numbers = rows_of_products(one.rule, std::ssize(rows) + 3, type);
        const auto plain = plain_attention(tree, checked, one, numbers.query.index_select(0, index), numbers.key,
                                           numbers.value, scale);
        for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
          const auto attention = make_tree_attention(one.rule, one.sinks, {1, 0}, numbers.query.options(), kernels);
          attention->grow(tree);
          attention->keep(0, 0, std::ssize(rows), numbers.key, numbers.value);
          const auto queries = attention->choose(tree, rows, one.window);
          const auto out = attention->attend(0, *queries, numbers.query, scale);
          const bool once = kernels == Kernels::own_kernels;  // torch rounds the weights of the values, too
          EXPECT_TRUE(agree(out.index_select(0, index), plain, {type, once ? 1 : 2, 5e-6},
                            once ? plain : numbers.value.abs().max()))
              << one.rule.num_heads << " heads, " << one.rule.num_key_heads << " key heads, width "
              << one.rule.head_width;
          EXPECT_EQ(out.slice(0, std::ssize(rows)).abs().max().item<float>(), 0) << "rows that fill up";
          EXPECT_TRUE(attention->attend(0, *queries, numbers.query, scale).equal(out)) << "the bits must repeat";
        }
      }
    }
  }
}

// Flash attention with key rows of its own for every segment: shared heads, windows, growth; and the plain operators
// where flash does not know the rule.
TEST(TreeAttentionOnGpu, AgreesWithPlainAttentionOnTheCpu) {
  if (!cuda_ready()) {
    GTEST_SKIP() << "no GPU is visible: " << cuda_absence();
  }
  for (const auto& tree : trees()) {
    const auto rows = all_rows(tree);
    const auto checked = checked_rows(std::ssize(rows));
    const auto index = at::tensor(checked);
    for (const auto& one : cases()) {
      const float scale = 1.7F / std::sqrt(static_cast<float>(one.rule.head_width));
      for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        draw_from(1);
        const auto numbers = rows_of_products(one.rule, std::ssize(rows) + 3, type);
        const auto plain = plain_attention(tree, checked, one, numbers.query.index_select(0, index), numbers.key,
                                           numbers.value, scale);
        const auto query = numbers.query.to(at::kCUDA);
        const auto attention = make_tree_attention(one.rule, one.sinks, {1, 0}, query.options(), Kernels::operators);
        attention->grow(tree);
        attention->keep(0, 0, std::ssize(rows), numbers.key.to(at::kCUDA), numbers.value.to(at::kCUDA));
        const auto queries = attention->choose(tree, rows, one.window);
        const auto out = attention->attend(0, *queries, query, scale);
        EXPECT_TRUE(agree(out.to(at::kCPU).index_select(0, index), plain, {type, 2, 5e-6}, numbers.value.abs().max()))
            << one.rule.num_heads << " heads, " << one.rule.num_key_heads << " key heads, width " << one.rule.head_width
            << ", window " << one.window << ", " << at::toString(type);
        EXPECT_TRUE(attention->attend(0, *queries, query, scale).equal(out)) << "the bits must repeat";
      }
    }
  }
}

TEST(TreeAttention, FewRowsAreThoseOfAll) {
  const auto tree = trees()[1];
  std::vector<std::int64_t> few;
  for (std::int64_t row = 0; row < std::ssize(tree.ids); row += row % 17 + 1) {
    few.push_back(row);
  }
  for (const auto& one : cases()) {
    const auto numbers = rows_of_products(one.rule, std::ssize(tree.ids), at::kFloat);
    const auto some = numbers.query.index_select(0, at::tensor(few));
    const auto plain = plain_attention(tree, few, one, some, numbers.key, numbers.value, 0.3);
    for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
      const auto attention = make_tree_attention(one.rule, one.sinks, {2, 0}, some.options(), kernels);
      attention->grow(tree);
      attention->keep(1, 0, std::ssize(tree.ids), numbers.key, numbers.value);
      const auto queries = attention->choose(tree, few, one.window);
      EXPECT_LT(largest_difference(attention->attend(1, *queries, some, 0.3F), plain), 2e-5);
    }
  }
}

TEST(TreeAttention, NoBitDependsOnWhatElseIsAsked) {
  for (const auto& tree : trees()) {
    const auto rows = all_rows(tree);
    for (const auto& one : cases()) {
      const auto numbers = rows_of_products(one.rule, std::ssize(rows), at::kFloat);
      const auto attention =
          make_tree_attention(one.rule, one.sinks, {1, 0}, numbers.query.options(), Kernels::own_kernels);
      attention->grow(tree);
      attention->keep(0, 0, std::ssize(rows), numbers.key, numbers.value);
      const auto all = attention->attend(0, *attention->choose(tree, rows, one.window), numbers.query, 0.3F);
      for (std::int64_t row = 0; row < std::ssize(rows); row += 7) {
        const auto alone = attention->choose(tree, std::vector{row}, one.window);
        EXPECT_TRUE(
            attention->attend(0, *alone, numbers.query.slice(0, row, row + 1), 0.3F).equal(all.slice(0, row, row + 1)))
            << "row " << row << ", window " << one.window;
      }
    }
  }
}

// Rows come in several calls, layers are apart, and what was kept survives every growth.
TEST(TreeAttention, GrowsBranchByBranch) {
  const auto whole = random_tree(9, 60, 5);
  Case one;
  one.rule.num_heads = 6;
  one.rule.num_key_heads = 3;
  one.rule.head_width = 24;
  one.rule.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.5F, 0.25F, 0.125F};
  const auto numbers = rows_of_products(one.rule, std::ssize(whole.ids), at::kFloat);
  const auto rows = all_rows(whole);
  const auto plain = plain_attention(whole, rows, one, numbers.query, numbers.key, numbers.value, 0.25);
  for (const auto kernels : {Kernels::own_kernels, Kernels::operators}) {
    const auto attention = make_tree_attention(one.rule, one.sinks, {2, 0}, numbers.query.options(), kernels);
    TokenTree tree;
    for (std::size_t branch = 0; branch < whole.branches.size(); ++branch) {
      const auto& added = whole.branches[branch];
      tree.branches.push_back(added);
      tree.ids.resize(static_cast<std::size_t>(added.first + added.length));
      if (branch % 3 != 0 && branch + 1 < whole.branches.size()) {
        continue;  // several branches at once
      }
      const auto first = attention->rows();
      const auto last = std::ssize(tree.ids);
      attention->grow(tree);
      const auto part = [&](const at::Tensor& all) { return all.slice(0, first, last); };
      attention->keep(0, first, last - first, part(numbers.value), part(numbers.key));
      attention->keep(1, first, last - first, part(numbers.key), part(numbers.value));
      const auto queries = attention->choose(tree, std::span(rows).subspan(first, last - first), 0);
      EXPECT_LT(largest_difference(attention->attend(1, *queries, part(numbers.query), 0.25F), part(plain)), 2e-5);
    }
    const auto all = attention->choose(whole, rows, 0);
    EXPECT_LT(largest_difference(attention->attend(1, *all, numbers.query, 0.25F), plain), 2e-5);
  }
}

TEST(TreeAttention, ExtremeScoresStayFinite) {
  const auto tree = trees()[1];
  Case one;
  one.rule.num_heads = one.rule.num_key_heads = 2;
  one.rule.head_width = 64;
  auto numbers = rows_of_products(one.rule, std::ssize(tree.ids), at::kFloat);
  numbers.query.mul_(300);
  const auto attention =
      make_tree_attention(one.rule, one.sinks, {1, 0}, numbers.query.options(), Kernels::own_kernels);
  attention->grow(tree);
  attention->keep(0, 0, std::ssize(tree.ids), numbers.key, numbers.value);
  const auto queries = attention->choose(tree, all_rows(tree), 0);
  const auto out = attention->attend(0, *queries, numbers.query, 1);
  EXPECT_TRUE(out.isfinite().all().item<bool>());
  const auto plain = plain_attention(tree, all_rows(tree), one, numbers.query, numbers.key, numbers.value, 1);
  EXPECT_LT(largest_difference(out, plain), 5e-3);  // scores of 10,000 keep three digits after the point
}

TEST(TreeAttention, EveryInstructionSetComputesTheSame) {
  const auto tree = trees()[1];
  const auto rows = all_rows(tree);
  const auto count = std::ssize(rows);
  constexpr std::int64_t width = 40;
  constexpr std::int64_t padded = 48;
  RegionAllocator allocator(0, Placement::dense, slots_per_block);
  allocator.grow(tree);
  const auto tiles = cut_tiles(tree, allocator.slots(), rows, 0, 6);
  const auto numbers = at::randn({3, count, width}, at::kFloat);
  const auto keys = at::zeros({allocator.end() / slots_per_block, padded, lanes::width}, at::kFloat);
  const auto values = at::zeros({allocator.end() / slots_per_block, lanes::width, padded}, at::kFloat);
  for (std::int64_t row = 0; row < count; ++row) {
    const auto slot = std::int64_t{allocator.slots()[static_cast<std::size_t>(row)]};
    const auto block = slot / slots_per_block;
    keys[block].slice(0, 0, width).select(1, slot % slots_per_block).copy_(numbers[1][row]);
    values[block][slot % slots_per_block].slice(0, 0, width).copy_(numbers[2][row]);
  }
  const auto run = [&](Instructions instructions) {
    const auto out = at::zeros({count, width}, at::kFloat);
    const auto scratch = at::empty({tile_scratch_numbers(tiles.most_blocks, padded)}, at::kFloat);
    TileTask<float> task{};
    task.kept = {keys.const_data_ptr<float>(), values.const_data_ptr<float>(), 1, padded};
    task.tiles = &tiles;
    task.query = numbers[0].const_data_ptr<float>();
    task.out = out.mutable_data_ptr<float>();
    task.query_stride = task.out_stride = task.width = width;
    task.group = 1;
    task.rule.scale = 0.3F;
    for (const auto& tile : tiles.tiles) {
      task.tile = &tile;
      attend_tile(task, scratch.mutable_data_ptr<float>(), instructions);
    }
    return out;
  };
  const auto baseline = run(Instructions::baseline);
  ASSERT_GT(baseline.abs().min().item<float>(), 0);
  for (const auto instructions : {Instructions::avx2, Instructions::avx512, Instructions::best}) {
    if (!has(instructions)) {
      std::printf("this processor lacks one of the instruction sets: not compared\n");
      continue;
    }
    EXPECT_LT(largest_difference(run(instructions), baseline), 1e-5);
  }
}

TEST(TreeTiles, MasksShowWhatEveryRowSees) {
  for (const auto& tree : trees()) {
    const auto rows = all_rows(tree);
    for (const std::int64_t window : {0, 1, 5, 40}) {
      RegionAllocator allocator(0, Placement::dense, slots_per_block);
      allocator.grow(tree);
      const auto slots = allocator.slots();
      const auto tiles = cut_tiles(tree, slots, rows, window, 6);
      std::int64_t queries = 0;
      for (const auto& tile : tiles.tiles) {
        EXPECT_EQ(tile.first_query, queries);
        EXPECT_LE(tile.num_queries, 6);
        queries += tile.num_queries;
        for (std::int32_t i = 0; i < tile.num_queries; ++i) {
          const auto& query = tiles.queries[tile.first_query + i];
          std::set<std::int32_t> seen;
          for (std::int32_t b = 0; b < tile.num_blocks + query.num_blocks; ++b) {
            const auto block = b < tile.num_blocks ? tile.first_block + b : query.first_block + b - tile.num_blocks;
            for (int bit = 0; bit < slots_per_block; ++bit) {
              if ((tiles.masks[query.first_mask + b] >> bit & 1) != 0) {
                EXPECT_TRUE(seen.insert(tiles.blocks[block] * slots_per_block + bit).second) << "a key twice";
              }
            }
          }
          EXPECT_LE(tile.num_blocks + query.num_blocks, tiles.most_blocks);
          std::set<std::int32_t> expected;
          for (const auto row : visible(tree, rows[tile.first_query + i], window)) {
            expected.insert(slots[row]);
          }
          EXPECT_EQ(seen, expected);
        }
      }
      EXPECT_EQ(queries, std::ssize(rows));
    }
  }
}

// What one sequence generates lies together, although sequences grow in turn.
TEST(TreeTiles, SequencesKeepBlocksOfTheirOwn) {
  TokenTree tree;
  plant_branch(tree, -1, 20);
  RegionAllocator allocator(0, Placement::dense, slots_per_block);
  allocator.grow(tree);
  std::vector<int> ends(5, 0);
  for (int step = 0; step < 64; ++step) {
    for (auto& end : ends) {
      end = plant_branch(tree, end, 1);
    }
    allocator.grow(tree);
  }
  EXPECT_EQ(std::ssize(allocator.slots()), std::ssize(tree.ids));
  const std::set<std::int32_t> distinct(allocator.slots().begin(), allocator.slots().end());
  EXPECT_EQ(distinct.size(), tree.ids.size());
  const std::vector<std::int64_t> last = {std::ssize(tree.ids) - 1};
  EXPECT_LE(cut_tiles(tree, allocator.slots(), last, 0, 6).tiles.front().num_blocks, 2 + 64 / 16);
}

// Texts of one prompt read its blocks together, their own ones alone; texts that share little still do.
TEST(TreeTiles, APromptIsReadOnceForItsTexts) {
  for (const auto& [prompt, own] : {std::pair{320, 70}, std::pair{16, 200}}) {
    TokenTree tree;
    plant_branch(tree, -1, prompt);
    RegionAllocator allocator(0, Placement::by_branch, slots_per_block);
    allocator.grow(tree);
    std::vector<std::int64_t> last;
    for (int text = 0; text < 12; ++text) {
      plant_branch(tree, 0, own);
      last.push_back(std::ssize(tree.ids) - 1);
    }
    allocator.grow(tree);
    const auto tiles = cut_tiles(tree, allocator.slots(), last, 0, 6);
    ASSERT_EQ(tiles.tiles.size(), 2U);
    for (const auto& tile : tiles.tiles) {
      EXPECT_EQ(tile.num_queries, 6);
      EXPECT_EQ(tile.num_blocks, prompt / slots_per_block);
    }
    for (const auto& query : tiles.queries) {
      EXPECT_EQ(query.num_blocks, whole_blocks(own) / slots_per_block);
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
