// The fast attention against the plain one, over lengths, widths, dtypes, query subsets and instruction sets.
#include "model/kernels/Attention.hpp"

#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/masked/MaskedModel.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

// Written plainly and computed in float64: what the fast ones are tested against.
at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads) {
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows, std::int64_t begin, std::int64_t end) {
    return rows.slice(0, begin, end).to(at::kDouble).reshape({end - begin, num_heads, width}).transpose(0, 1);
  };
  auto out = at::empty({query.size(0), query.size(1)}, query.options());
  for (std::size_t i = 0; i + 1 < segments.key_begin.size(); ++i) {
    const auto first = segments.query_begin[i];
    const auto last = segments.query_begin[i + 1];
    if (first == last) {
      continue;
    }
    const auto q = by_head(query, first, last);
    const auto k = by_head(key, segments.key_begin[i], segments.key_begin[i + 1]);
    const auto v = by_head(value, segments.key_begin[i], segments.key_begin[i + 1]);
    const auto scores = at::matmul(q, k.transpose(1, 2)).mul(1 / std::sqrt(static_cast<double>(width)));
    const auto mixed = at::matmul(at::softmax(scores, -1), v).transpose(0, 1).reshape({last - first, query.size(1)});
    out.slice(0, first, last).copy_(mixed);
  }
  return out;
}

using stereosweep::testing::agree;
using stereosweep::testing::draw_from;

struct Case {
  std::int64_t width;
  std::int64_t num_heads;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t> queries;  ///< of each sequence; empty: all
};

Segments segments_of(const Case& one) {
  Segments segments{{0}, {0}, {}, {}};
  for (std::size_t i = 0; i < one.lengths.size(); ++i) {
    segments.key_begin.push_back(segments.key_begin.back() + one.lengths[i]);
    segments.query_begin.push_back(segments.query_begin.back() +
                                   (one.queries.empty() ? one.lengths[i] : one.queries[i]));
  }
  return segments;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{64, 12, {10, 9, 11, 1, 16, 17, 33}, {}},
                                        {64, 2, {200, 3}, {}},
                                        {32, 12, {8, 8, 8}, {}},
                                        {5, 3, {4, 7, 40}, {}},
                                        {64, 4, {12, 5, 30}, {2, 0, 9}},
                                        {48, 2, {15, 16}, {1, 1}},
                                        {1, 2, {3}, {}},
                                        {128, 1, {70}, {70}}};
  return all;
}

double largest_difference(const at::Tensor& left, const at::Tensor& right) {
  return left.to(at::kDouble).sub(right.to(at::kDouble)).abs().max().item<double>();
}

// Torch rounds the weights of the values, too: errors as large as a rounding of the largest value.
bool rounds_once() { return kernels_on(at::kCPU) == Kernels::own_kernels; }

TEST(Attention, AgreesWithThePlainOneOnStackedRows) {
  for (const auto& one : cases()) {
    const auto segments = segments_of(one);
    const auto hidden = one.width * one.num_heads;
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      draw_from(static_cast<std::uint64_t>(one.width));
      const auto query = at::randn({segments.query_begin.back(), hidden}, at::kFloat).mul_(2).to(type);
      const auto both = at::randn({segments.key_begin.back(), 2 * hidden}, at::kFloat).mul_(2).to(type);
      const auto key = both.slice(1, 0, hidden);
      const auto value = both.slice(1, hidden, 2 * hidden);
      const auto fast = attend(query, key, value, segments, one.num_heads);
      const auto plain = attend_plainly(query, key, value, segments, one.num_heads);
      ASSERT_GT(plain.abs().max().item<float>(), 0.1F);
      const auto largest = value.abs().max();  // the plain one rounds once
      EXPECT_TRUE(agree(fast, plain, {type, rounds_once() ? 2 : 3, 5e-6}, rounds_once() ? plain : largest))
          << "width " << one.width;
      const auto in_runs = attend_in_runs(query, key, value, segments, one.num_heads);
      EXPECT_TRUE(agree(in_runs, plain, {type, 3, 5e-6}, largest)) << "width " << one.width;
      EXPECT_TRUE(attend(query, key, value, segments, one.num_heads).equal(fast)) << "the bits must repeat";
    }
  }
}

// With bundles where the lengths and the width take them.
Segments on_gpu(Segments segments, at::ScalarType type, std::int64_t width) {
  Staging staging;
  const auto keys = staging.add(segments.key_begin);
  const auto queries = staging.add(segments.query_begin);
  staging.send(at::kCUDA);
  segments.device_key_begin = staging.at(keys);
  segments.device_query_begin = staging.at(queries);
  segments.bundles = bundle(segments, at::TensorOptions(at::kCUDA).dtype(type), width);
  return segments;
}

// What ends a 16-bit run in its first block if torch's settings are wrong: products with and without a bias, and the
// vocabulary's with sums in float32.
TEST(FirstCallsOnGpu, SixteenBitProductsAreComputed) {
  if (!cuda_ready()) {
    GTEST_SKIP() << "no GPU is visible: " << cuda_absence();
  }
  configure_threads(1);
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    draw_from(2);
    const auto input = at::randn({37, 768}, at::kFloat).to(type);
    const auto weight = at::randn({3072, 768}, at::kFloat).mul_(0.05).to(type);
    const auto bias = at::randn({3072}, at::kFloat).to(type);
    const auto plain = at::matmul(input.to(at::kFloat), weight.to(at::kFloat).t());
    const auto on_gpu = [](const at::Tensor& tensor) { return tensor.to(at::kCUDA); };
    const auto error = [&](const at::Tensor& product, const at::Tensor& expected) {
      return product.to(at::kCPU).to(at::kFloat).sub(expected).abs().max().item<double>();
    };
    const double rounded = type == at::kHalf ? 0.005 : 0.04;  // of answers up to 8
    EXPECT_LT(error(Linear(on_gpu(weight), {}).apply(on_gpu(input)), plain), rounded);
    EXPECT_LT(error(Linear(on_gpu(weight), on_gpu(bias)).apply(on_gpu(input)), plain.add(bias)), rounded);
    const OutputProjection decoder(on_gpu(weight), on_gpu(bias.to(at::kFloat)));
    EXPECT_LT(error(decoder.apply(on_gpu(input.to(at::kFloat))), plain.add(bias)), 1e-4);
  }
}

// As the body calls it: rows of stacked products, few queries, many short sequences, every width that flash knows.
TEST(AttentionOnGpu, AgreesWithThePlainOneOnTheCpu) {
  if (!cuda_ready()) {
    GTEST_SKIP() << "no GPU is visible: " << cuda_absence();
  }
  auto all = cases();
  for (const std::int64_t width : {8, 24, 40, 72, 80, 96, 112, 160, 192, 224, 256}) {
    all.push_back({width, 4, {10, 129, 1, 65}, {3, 0, 1, 65}});
  }
  all.push_back({64, 16, std::vector<std::int32_t>(1500, 11), {}});
  all.push_back({64, 16, {64, 1, 33, 31, 2, 62, 5, 60, 64, 64}, {}});
  all.push_back({48, 4, {64, 1, 33, 31, 2, 62, 5, 60}, {1, 1, 0, 31, 0, 3, 5, 1}});
  for (const auto& one : all) {
    const auto segments = segments_of(one);
    const auto hidden = one.width * one.num_heads;
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      draw_from(static_cast<std::uint64_t>(one.width));
      const auto query = at::randn({segments.query_begin.back(), hidden}, at::kFloat).to(type);
      const auto both = at::randn({segments.key_begin.back(), 2 * hidden}, at::kFloat).to(type);
      const auto rows = both.to(at::kCUDA);
      const auto run = [&] {
        return attend(query.to(at::kCUDA), rows.slice(1, 0, hidden), rows.slice(1, hidden),
                      on_gpu(segments, type, one.width), one.num_heads);
      };
      EXPECT_EQ(segment_operator(at::kCUDA, type, one.width) == SegmentOperator::flash,
                type != at::kFloat && one.width % 8 == 0);
      const auto fast = run();
      const auto plain =
          attend_plainly(query, both.slice(1, 0, hidden), both.slice(1, hidden), segments, one.num_heads);
      EXPECT_TRUE(agree(fast, plain, {type, 3, 5e-6}, both.slice(1, hidden).abs().max())) << "width " << one.width;
      EXPECT_TRUE(run().equal(fast)) << "the bits must repeat";
    }
  }
}

TEST(Attention, ExtremeScoresStayFinite) {
  const Segments segments{{0, 20}, {0, 20}, {}, {}};
  const auto query = at::randn({20, 64}, at::kFloat).mul_(100);
  const auto fast = attend(query, query, query, segments, 1);
  EXPECT_TRUE(fast.isfinite().all().item<bool>());
  EXPECT_LT(largest_difference(fast, attend_plainly(query, query, query, segments, 1)), 1e-3);
}

// An infinite query, key or value is never softened into a number; other sequences do not notice.
TEST(Attention, WhatLeftFloat16IsNotFinite) {
  const Segments segments{{0, 20, 40}, {0, 20, 40}, {}, {}};
  for (int damaged = 0; damaged < 3; ++damaged) {
    std::vector<at::Tensor> rows;
    for (int i = 0; i < 3; ++i) {
      rows.push_back(at::randn({40, 64}, at::kFloat).to(at::kHalf));
    }
    const auto before = attend(rows[0], rows[1], rows[2], segments, 1);
    rows[damaged][7].fill_(std::numeric_limits<float>::infinity());
    const auto out = attend(rows[0], rows[1], rows[2], segments, 1);
    EXPECT_FALSE((damaged == 0 ? out.slice(0, 7, 8) : out.slice(0, 0, 20)).isfinite().all(1).any().item<bool>());
    EXPECT_TRUE(out.slice(0, 20).equal(before.slice(0, 20)));
  }
}

TEST(Attention, EveryInstructionSetComputesTheSame) {
  const std::vector<std::int32_t> begins{0, 23};
  const Segments segments{begins, begins, {}, {}};
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const auto numbers = at::randn({3, 23, 40}, at::kFloat).to(type);
    const auto by = [&](Instructions instructions) {
      return attend(numbers[0], numbers[1], numbers[2], segments, 1, instructions).to(at::kFloat);
    };
    const auto baseline = by(Instructions::baseline);
    const double tolerance = type == at::kFloat ? 1e-5 : 2e-2;  // the last digit may be rounded otherwise
    for (const auto instructions : {Instructions::avx2, Instructions::avx512, Instructions::best}) {
      if (!has(instructions)) {
        std::printf("this processor lacks one of the instruction sets: not compared\n");
        continue;
      }
      ASSERT_TRUE(at::allclose(by(instructions), baseline, tolerance, tolerance));
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
