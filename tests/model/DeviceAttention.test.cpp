// Attention on a device that is no CPU: what it is asked for, and its numbers against plain operators on the CPU.
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "model/PlantedBranch.hpp"
#include "model/ProductRows.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/TreeAttention.hpp"
#include "model/kernels/Attention.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/masked/PlacedAttention.hpp"
#include "support/FakeDevice.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::agree;
using stereosweep::testing::device_counts;
using stereosweep::testing::DeviceCounts;
using stereosweep::testing::draw_from;
using stereosweep::testing::fake_device;
using stereosweep::testing::reset_device_counts;
using testing::plant_branch;
using testing::Rows;
using testing::rows_of_products;

Rows on_fake_device(const Rows& rows) {
  const auto queries = rows.query.size(1);
  const auto keys = rows.key.size(1);
  const auto all =
      rows.query.as_strided({rows.query.size(0), queries + 2 * keys}, rows.query.strides()).to(fake_device());
  return {all.slice(1, 0, queries), all.slice(1, queries, queries + keys), all.slice(1, queries + keys)};
}

// Trunks with sentences, each with two endings.
TokenTree coreference_tree(std::int32_t rows) {
  TokenTree tree;
  while (std::ssize(tree.ids) < rows) {
    const auto trunk = plant_branch(tree, -1, 50);
    for (int sentence = 0; sentence < 20; ++sentence) {
      const auto middle = plant_branch(tree, trunk, 18);
      plant_branch(tree, middle, 2);
      plant_branch(tree, middle, 1);
    }
  }
  return tree;
}

std::vector<std::int64_t> rows_between(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

CausalSpecification rule_of(std::int64_t heads, std::int64_t key_heads, std::int64_t width) {
  CausalSpecification rule;
  rule.num_heads = heads;
  rule.num_key_heads = key_heads;
  rule.head_width = width;
  return rule;
}

struct Counted {
  at::Tensor out;
  DeviceCounts counts;
};

// All rows, in groups of `group` rows; counts without uploads of the rows themselves.
Counted attend_on(const TokenTree& tree, const CausalSpecification& rule, const Rows& rows, std::int64_t group,
                  std::int64_t window) {
  const auto attention = make_tree_attention(rule, {}, {}, rows.query.options(), Kernels::operators);
  attention->grow(tree);
  const auto count = std::ssize(tree.ids);
  std::vector<std::unique_ptr<TreeAttention::Queries>> chosen;
  for (std::int64_t begin = 0; begin < count; begin += group) {
    chosen.push_back(attention->choose(tree, rows_between(begin, std::min(begin + group, count)), window));
  }
  reset_device_counts();
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < chosen.size(); ++i) {  // as a layer does: keep, then ask
    const auto begin = static_cast<std::int64_t>(i) * group;
    const auto end = std::min(begin + group, count);
    attention->keep(0, begin, end - begin, rows.key.slice(0, begin, end), rows.value.slice(0, begin, end));
    parts.push_back(attention->attend(0, *chosen[i], rows.query.slice(0, begin, end), 0.2F));
  }
  const auto counts = device_counts();
  for (auto& part : parts) {
    part = part.to(at::kCPU);
  }
  return {at::cat(parts), counts};
}

// What copies of keys and values may gather, where they see so many rows.
std::int64_t copied_bytes(const CausalSpecification& rule, at::ScalarType type, std::int64_t rows) {
  return most_copies * rows * 2 * rule.num_key_heads * rule.head_width *
         static_cast<std::int64_t>(c10::elementSize(type));
}

// Sentences have copies of their short trunk in front of them, and endings read their sentence where it lies.
TEST(DeviceAttention, ATreeIsTwoCalls) {
  const auto tree = coreference_tree(16384);
  const auto rows = std::ssize(tree.ids);
  const auto rule = rule_of(4, 2, 8);
  draw_from(3);
  const auto numbers = rows_of_products(rule, rows, at::kBFloat16);
  const auto found = attend_on(tree, rule, on_fake_device(numbers), rows, 0);
  EXPECT_LE(found.counts.gathered_bytes, copied_bytes(rule, at::kBFloat16, rows));
  EXPECT_EQ(found.counts.launches.at("_flash_attention_forward"), 2);
  EXPECT_EQ(found.counts.all_launches(), 9);
  EXPECT_EQ(found.counts.blocking_copies(), 0);
  const auto expected = attend_on(tree, rule, numbers, rows, 0);
  EXPECT_TRUE(agree(found.out, expected.out, {at::kBFloat16, 3, 5e-6}, numbers.value.abs().max()));
}

TEST(DeviceAttention, GroupsOfRowsWindowsAndFloat32Agree) {
  const auto tree = coreference_tree(900);
  const auto rows = std::ssize(tree.ids);
  for (const auto& rule : {rule_of(4, 2, 8), rule_of(3, 3, 16), rule_of(6, 1, 24)}) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const std::int64_t window : {0, 7, 55}) {
        draw_from(4);
        const auto numbers = rows_of_products(rule, rows, type);
        const auto found = attend_on(tree, rule, on_fake_device(numbers), 400, window);
        const auto expected = attend_on(tree, rule, numbers, 400, window);
        EXPECT_TRUE(agree(found.out, expected.out, {type, 3, 5e-6}, numbers.value.abs().max()))
            << at::toString(type) << ", window " << window;
        const auto groups = (rows + 399) / 400;
        const auto calls =
            found.counts.launches.at(type == at::kFloat ? "_efficient_attention_forward" : "_flash_attention_forward");
        EXPECT_LE(calls, 3 * groups);
        const auto logarithms = type == at::kFloat ? 3 * rows * rule.num_heads * 4 : 0;  // of sums are put in order
        EXPECT_LE(found.counts.gathered_bytes, logarithms + groups * copied_bytes(rule, type, rows));
      }
    }
  }
}

// A step of texts of one prompt, with a query each: a short prompt is copied in front of every text; a long one is read
// where it lies by a call of its own.
class StepOfTexts : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Prompts, StepOfTexts, ::testing::Values(60, 250));

TEST_P(StepOfTexts, GathersLittle) {
  const auto rule = rule_of(8, 2, 16);
  const bool is_short = GetParam() == 60;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    draw_from(5);
    const auto numbers = rows_of_products(rule, 600, type);
    const auto device = on_fake_device(numbers);
    const auto on_both = [&](const auto& action) {
      action(numbers);
      action(device);
    };
    std::vector<at::Tensor> answers;
    on_both([&](const Rows& source) {
      const auto attention =
          make_tree_attention(rule, {}, {1, 700, Placement::by_branch}, source.query.options(), Kernels::operators);
      TokenTree tree;
      plant_branch(tree, -1, GetParam(), 20);
      std::vector<std::int32_t> tips(16, 0);
      at::Tensor out;
      for (int step = 0; step < 20; ++step) {
        for (auto& tip : tips) {
          tip = plant_branch(tree, tip, 1, 19 - step);
        }
        const auto first = attention->rows();
        attention->grow(tree);
        const auto end = std::ssize(tree.ids);
        const auto chosen = attention->choose(tree, rows_between(end - 16, end), 0);
        attention->keep(0, first, end - first, source.key.slice(0, first, end), source.value.slice(0, first, end));
        reset_device_counts();
        out = attention->attend(0, *chosen, source.query.slice(0, end - 16, end), 0.25F);
      }
      if (!source.query.is_cpu()) {
        const auto counts = device_counts();
        const auto logarithms = type == at::kFloat ? 2 * 16 * rule.num_heads * 4 : 0;
        EXPECT_LE(counts.gathered_bytes, logarithms + (is_short ? copied_bytes(rule, type, 60 + 16 * 20) : 0));
        const auto calls = is_short ? 1 : 2;
        EXPECT_EQ(counts.launches.at(type == at::kFloat ? "_efficient_attention_forward" : "_flash_attention_forward"),
                  calls);
        EXPECT_LE(counts.all_launches(), is_short ? 6 : 10);
      }
      answers.push_back(out.to(at::kCPU));
    });
    EXPECT_TRUE(agree(answers[1], answers[0], {type, 3, 5e-6}, numbers.value.abs().max()));
  }
}

// Caps: few shapes, masks made once.
TEST(DeviceAttention, PathsAreFilledUpToFewShapes) {
  const auto tree = coreference_tree(900);
  const auto rows = std::ssize(tree.ids);
  auto rule = rule_of(4, 2, 8);
  rule.attention_softcap = 1.5F;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    draw_from(6);
    const auto numbers = rows_of_products(rule, rows, type);
    const auto found = attend_on(tree, rule, on_fake_device(numbers), rows, 0);
    const auto expected = attend_on(tree, rule, numbers, rows, 0);
    EXPECT_TRUE(agree(found.out, expected.out, {type, 2, 5e-6}, numbers.value.abs().max()));
    EXPECT_LE(found.counts.all_launches(), 80) << "of a layer: four shapes";
  }
}

CausalSpecification alibi_rule(std::int64_t heads, std::int64_t key_heads, std::int64_t width, float scale) {
  auto rule = rule_of(heads, key_heads, width);
  for (std::int64_t head = 0; head < heads; ++head) {
    rule.alibi_slopes.push_back(std::pow(0.84F, static_cast<float>(head + 1)));
  }
  rule.alibi_scale = scale;
  return rule;
}

// Alibi: the levels' own calls with a bias that was made once. An alibi_scale that is no power of two would be rounded
// with 16 bits: plain operators take it.
TEST(DeviceAttention, AlibiIsMadeOnce) {
  const auto tree = coreference_tree(200);
  const auto rows = std::ssize(tree.ids);
  for (const float scale : {1.0F, 0.125F, 0.3F}) {
    for (const auto& rule : {alibi_rule(4, 2, 8, scale), alibi_rule(3, 3, 16, scale)}) {
      for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        draw_from(6);
        const auto numbers = rows_of_products(rule, rows, type);
        const auto found = attend_on(tree, rule, on_fake_device(numbers), 300, 0);
        const auto expected = attend_on(tree, rule, numbers, 300, 0);
        EXPECT_TRUE(agree(found.out, expected.out, {type, 3, 5e-6}, numbers.value.abs().max()))
            << at::toString(type) << ", scale " << scale;
        if (scale == 0.3F && type != at::kFloat) {
          continue;
        }
        const auto groups = (rows + 299) / 300;
        EXPECT_LE(found.counts.launches.at("_efficient_attention_forward"), 3 * groups);
        EXPECT_LE(found.counts.all_launches(), 13 * groups);
        const auto logarithms = 3 * rows * rule.num_heads * 4;  // of sums
        EXPECT_LE(found.counts.gathered_bytes, logarithms + groups * copied_bytes(rule, type, rows));
      }
    }
  }
}

// A long text beside many short ones: their bias would take more than most_scores_bytes.
TEST(DeviceAttention, ManyQueriesWithAlibiAreCut) {
  TokenTree tree;
  plant_branch(tree, -1, 1100);
  for (int text = 0; text < 1000; ++text) {
    plant_branch(tree, -1, 1);
  }
  const auto rows = std::ssize(tree.ids);
  const auto rule = alibi_rule(64, 64, 8, 1);
  draw_from(8);
  const auto numbers = rows_of_products(rule, rows, at::kBFloat16);
  const auto found = attend_on(tree, rule, on_fake_device(numbers), rows, 0);
  EXPECT_GT(found.counts.launches.at("_efficient_attention_forward"), 1);
  const auto expected = attend_on(tree, rule, numbers, rows, 0);
  EXPECT_TRUE(agree(found.out, expected.out, {at::kBFloat16, 3, 5e-6}, numbers.value.abs().max()));
}

// ModernBERT's windows: one call of flash attention; in float32 a call for each filled length.
TEST(DeviceAttention, WindowsOfMaskedModelsAreOneCall) {
  std::vector<std::int32_t> begins{0};
  for (std::int32_t length = 20; length < 60; ++length) {
    begins.push_back(begins.back() + length);
  }
  const auto rule = rule_of(4, 4, 16);
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    draw_from(7);
    const auto numbers = rows_of_products(rule, begins.back(), type);
    const auto device = on_fake_device(numbers);
    const auto begins_there = on_device(begins, fake_device());
    SequenceGroups there({begins, begins, begins_there, begins_there}, SequenceGroups::Lengths::filled, fake_device());
    SequenceGroups here({begins, begins, {}, {}}, SequenceGroups::Lengths::exact, at::kCPU);
    there.prepare(9, type);
    here.prepare(9, type);
    reset_device_counts();
    const auto found = attend_within(device.query, device.key, device.value, there, 4, 9);
    EXPECT_LE(device_counts().all_launches(), type == at::kFloat ? 30 : 1);
    const auto expected = attend_within(numbers.query, numbers.key, numbers.value, here, 4, 9);
    EXPECT_TRUE(agree(found.to(at::kCPU), expected, {type, 3, 5e-6}, numbers.value.abs().max()));
  }
}

// Begins of sequences with so many rows each.
std::vector<std::int32_t> begins_of(const std::vector<std::int32_t>& counts) {
  std::vector<std::int32_t> begins{0};
  for (const auto count : counts) {
    begins.push_back(begins.back() + count);
  }
  return begins;
}

// Neighbours share a segment, and a query sees its own sequence alone: all rows ask, or few.
TEST(DeviceAttention, ShortSequencesAreBundled) {
  const std::vector<std::int32_t> lengths{64, 1, 33, 31, 2, 62, 5, 60, 11, 11, 11, 11, 11, 11};
  const std::vector<std::int32_t> few{1, 1, 0, 31, 0, 3, 5, 1, 0, 0, 0, 0, 0, 0};
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const auto& counts : {lengths, few}) {
      draw_from(8);
      const auto keys = begins_of(lengths);
      const auto queries = begins_of(counts);
      const auto numbers = rows_of_products(rule_of(3, 3, 16), keys.back(), type);
      const auto device = on_fake_device(numbers);
      Segments segments{keys, queries, on_device(keys, fake_device()), on_device(queries, fake_device())};
      segments.bundles = bundle(segments, device.key.options(), 16);
      ASSERT_TRUE(segments.bundles);
      EXPECT_EQ(segments.bundles->key_begin.size(0), 9);  // 64 | 1 33 | 31 2 | 62 | 5 | 60 | 11 x 5 | 11
      reset_device_counts();
      const auto found = attend(device.query.slice(0, 0, queries.back()), device.key, device.value, segments, 3);
      EXPECT_EQ(device_counts().all_launches(), 1);
      const auto expected = attend_in_runs(numbers.query.slice(0, 0, queries.back()), numbers.key, numbers.value,
                                           {keys, queries, {}, {}}, 3);
      EXPECT_TRUE(agree(found.to(at::kCPU), expected, {type, 3, 5e-6}, numbers.value.abs().max()));
    }
  }
}

TEST(DeviceAttention, LongSequencesAndWideHeadsAreNotBundled) {
  const auto options = at::TensorOptions(fake_device()).dtype(at::kBFloat16);
  const Segments fits{{0, 64}, {0, 64}, {}, {}};
  EXPECT_TRUE(bundle(fits, options, 64));
  EXPECT_FALSE(bundle(fits, options, 128));
  EXPECT_FALSE(bundle({{0, 65}, {0, 65}, {}, {}}, options, 64));
  EXPECT_FALSE(bundle(fits, at::TensorOptions(at::kCPU).dtype(at::kBFloat16), 64));
}

// CUDA has no kernel for 16 bits whose rows of a head do not begin at multiples of 16 bytes.
TEST(DeviceAttention, WidthsThatNoKernelKnowsAreComputedPlainly) {
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    for (const auto bias : {ScoreBias::none, ScoreBias::by_key}) {
      EXPECT_EQ(segment_operator(fake_device(), type, 12, bias), SegmentOperator::plain);
    }
  }
  EXPECT_EQ(segment_operator(fake_device(), at::kFloat, 12), SegmentOperator::efficient);
  EXPECT_EQ(segment_operator(fake_device(), at::kFloat, 6), SegmentOperator::plain);
}

}  // namespace
}  // namespace stereosweep::model
