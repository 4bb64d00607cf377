// Prepacked products, tiles and their fallbacks against plain float64 products.
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "model/Difference.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/PackedProducts.hpp"
#include "model/kernels/Tiles.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::agree;
using stereosweep::testing::draw_from;

struct Operands {
  at::Tensor input;
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor residual;
  at::Tensor expected;  // float64, from the rounded operands
};

Operands operands(at::ScalarType type, std::int64_t rows, std::int64_t in, std::int64_t out) {
  draw_from(static_cast<std::uint64_t>(rows * out));
  Operands made;
  made.input = at::randn({rows, in}, at::kFloat).to(type);
  made.weight = at::randn({out, in}, at::kFloat).mul_(0.2).to(type);
  made.bias = at::randn({out}, at::kFloat).to(type);
  made.residual = at::randn({rows, out}, at::kFloat).to(type);
  made.expected = at::linear(made.input.to(at::kDouble), made.weight.to(at::kDouble), made.bias.to(at::kDouble));
  return made;
}

TEST(Products, PackedAndPlainAgreeWithFloat64) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    if (type != at::kHalf && !onednn::works(type)) {
      std::printf("prepacked products are not used here: only the plain form is tested\n");
    }
    for (const std::int64_t rows : {1, 13, 64, 200}) {
      const auto [input, weight, bias, residual, expected] = operands(type, rows, 96, 160);
      const auto sizes = expected.abs().add(bias.abs()).add(residual.abs());
      for (const auto products : {Products::fastest, Products::few_rows, Products::plain}) {
        const Linear linear(weight, bias, products);
        // the product, the bias, the sum or the activation (whose slope is at most 1.13)
        const auto near = [&](const at::Tensor& found, const at::Tensor& exact) {
          return agree(found, exact, {type, 4, 2e-6}, sizes);
        };
        EXPECT_TRUE(near(linear.apply(input), expected));
        EXPECT_TRUE(near(linear.apply_and_add(input, residual.clone()), expected.add(residual.to(at::kDouble))));
        EXPECT_TRUE(near(linear.apply_activated(input, Activation::gelu), at::gelu(expected)));
        EXPECT_TRUE(near(linear.apply_activated(input, Activation::gelu_tanh), at::gelu(expected, "tanh")));
        EXPECT_TRUE(near(linear.apply_activated(input, Activation::relu), at::relu(expected)));
        EXPECT_TRUE(near(linear.apply_activated(input, Activation::silu), at::silu(expected)));
        EXPECT_TRUE(linear.apply(input.clone()).equal(linear.apply(input)));
        const Linear without(weight, {}, products);
        const auto plain = expected.sub(bias.to(at::kDouble));
        EXPECT_TRUE(near(without.apply(input), plain));
        EXPECT_TRUE(near(without.apply_and_add(input, residual.clone()), plain.add(residual.to(at::kDouble))));
        EXPECT_TRUE(near(without.apply_activated(input, Activation::silu), at::silu(plain)));
      }
    }
  }
}

// More numbers than are widened at once, so that the columns come in several pieces.
TEST(Products, WideFloat16WeightsComeInPieces) {
  const auto [input, weight, bias, residual, expected] = operands(at::kHalf, 3, 2304, 1000);
  const Linear linear(weight, bias);
  const auto sizes = expected.abs().add(bias.abs()).add(residual.abs());
  const auto near = [&](const at::Tensor& found, const at::Tensor& exact) {
    return agree(found, exact, {at::kHalf, 4, 2e-6}, sizes);
  };
  EXPECT_TRUE(near(linear.apply(input), expected));
  EXPECT_TRUE(near(linear.apply_and_add(input, residual.clone()), expected.add(residual.to(at::kDouble))));
  EXPECT_TRUE(near(linear.apply_activated(input, Activation::gelu), at::gelu(expected)));
}

// 300 of 300 x 300 products leave float16's range; beside them nothing changes.
TEST(Products, WhatLeavesFloat16BecomesInfinite) {
  const auto weight = at::full({48, 64}, 300, at::kHalf);
  const auto input = at::ones({2, 64}, at::kHalf);
  input[1].fill_(300);
  for (const auto products : {Products::fastest, Products::plain}) {
    const auto out = Linear(weight, {}, products).apply(input);
    EXPECT_TRUE(out[0].eq(19200).all().item<bool>());
    EXPECT_TRUE(out[1].isinf().all().item<bool>());
  }
}

TEST(Products, TheDecoderAnswersInFloat32) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t hidden : {64, 50}) {  // 50: no tiles
      for (const std::int64_t rows : {1, 3, 129, 300}) {
        const auto [input, weight, bias, residual, expected] = operands(type, rows, hidden, 5003);
        const auto wide_bias = bias.to(at::kFloat);
        for (const auto products : {Products::fastest, Products::plain}) {
          const OutputProjection decoder(weight, wide_bias, products);
          const auto logits = decoder.apply(input.to(at::kFloat));
          EXPECT_EQ(logits.scalar_type(), at::kFloat);
          EXPECT_LT(difference(logits, expected), 5e-5) << "sums must stay in float32";
          EXPECT_TRUE(decoder.apply(input.to(at::kFloat)).equal(logits));
        }
      }
    }
  }
  if (!tiles::take(64)) {
    std::printf("bfloat16 tiles are not used here: only the widened form is tested\n");
  }
}

}  // namespace
}  // namespace stereosweep::model
