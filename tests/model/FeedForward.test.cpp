// Experts, each way that their products can be made, against float64 row by row.
#include "model/causal/FeedForward.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/Difference.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::agree;
using stereosweep::testing::draw_from;

constexpr std::int64_t hidden = 32;
constexpr std::int64_t inner = 48;
constexpr std::int64_t count = 5;

struct Parts {
  at::Tensor router;
  at::Tensor router_bias;           // [count] or undefined
  std::vector<at::Tensor> in;       // [2 inner, hidden]
  std::vector<at::Tensor> in_bias;  // [2 inner] or undefined
  std::vector<at::Tensor> out;      // [hidden, inner]
  std::vector<at::Tensor> bias;     // [hidden] or undefined
};

Parts random_parts(at::ScalarType type, bool with_bias) {
  draw_from(3);
  const auto random = [&](std::vector<std::int64_t> shape) { return at::randn(shape, at::kFloat).mul_(0.3).to(type); };
  Parts parts;
  parts.router = random({count, hidden});
  parts.router_bias = with_bias ? random({count}) : at::Tensor();
  for (std::int64_t i = 0; i < count; ++i) {
    parts.in.push_back(random({2 * inner, hidden}));
    parts.in_bias.push_back(with_bias ? random({2 * inner}) : at::Tensor());
    parts.out.push_back(random({hidden, inner}));
    parts.bias.push_back(with_bias ? random({hidden}) : at::Tensor());
  }
  return parts;
}

CausalSpecification specification_of(std::int64_t per_token, bool renormalize) {
  CausalSpecification specification;
  specification.gated = true;
  specification.activation = Activation::silu;
  specification.experts = {count, per_token, renormalize};
  return specification;
}

ExpertMixture mixture_of(const Parts& parts, const CausalSpecification& specification) {
  std::vector<FeedForward> experts;
  for (std::size_t i = 0; i < parts.in.size(); ++i) {
    experts.push_back({Linear(parts.in[i].clone(), parts.in_bias[i]), Linear(parts.out[i].clone(), parts.bias[i])});
  }
  return {parts.router, parts.router_bias, std::move(experts), specification};
}

// One row after the other, in float64.
at::Tensor plain_mixture(const Parts& parts, const CausalSpecification& specification, const at::Tensor& input) {
  std::vector<at::Tensor> rows;
  for (std::int64_t row = 0; row < input.size(0); ++row) {
    const auto x = input[row].to(at::kDouble);
    const auto wide = [](const at::Tensor& bias) { return bias.defined() ? bias.to(at::kDouble) : bias; };
    const auto chances = at::softmax(at::linear(x, parts.router.to(at::kDouble), wide(parts.router_bias)), -1);
    auto [weights, experts] = at::topk(chances, specification.experts.per_token);
    if (specification.experts.renormalize) {
      weights = weights.div(weights.sum());
    }
    auto sum = at::zeros({hidden}, at::kDouble);
    for (std::int64_t i = 0; i < specification.experts.per_token; ++i) {
      const auto expert = static_cast<std::size_t>(experts[i].item<std::int64_t>());
      const auto both = at::linear(x, parts.in[expert].to(at::kDouble), wide(parts.in_bias[expert]));
      const auto active = at::silu(both.slice(0, 0, inner)).mul(both.slice(0, inner));
      sum += at::linear(active, parts.out[expert].to(at::kDouble), wide(parts.bias[expert])).mul(weights[i]);
    }
    rows.push_back(sum);
  }
  return at::stack(rows);
}

TEST(FeedForward, ExpertsAgreeWithFloat64InEveryWay) {
  for (const bool with_bias : {false, true}) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const auto parts = random_parts(type, with_bias);
      for (const std::int64_t per_token : {1, 2, 3}) {
        const auto specification = specification_of(per_token, per_token != 3);
        const auto mixture = mixture_of(parts, specification);
        for (const std::int64_t rows : {1, 100, 300}) {
          draw_from(static_cast<std::uint64_t>(rows));
          const auto input = at::randn({rows, hidden}, at::kFloat).to(type);
          const auto residual = at::randn({rows, hidden}, at::kFloat).to(type);
          const auto expected = plain_mixture(parts, specification, input);
          const auto size = expected.abs().max().expand(expected.sizes());
          EXPECT_TRUE(agree(mixture.apply(input, {}), expected, {type, 6, 4e-6}, size)) << rows << " rows";
          EXPECT_TRUE(agree(mixture.apply(input, residual.clone()), expected.add(residual.to(at::kDouble)),
                            {type, 6, 4e-6}, size.add(residual.abs())))
              << rows << " rows, added";
        }
      }
    }
  }
}

TEST(FeedForward, TheWayFollowsTheRows) {
  const bool operators = kernels_on(at::kCPU) == Kernels::operators;
  for (const bool with_bias : {false, true}) {
    const auto mixture = mixture_of(random_parts(at::kBFloat16, with_bias), specification_of(2, true));
    EXPECT_EQ(mixture.way_for(128), operators ? ExpertMixture::Way::dense : ExpertMixture::Way::one_by_one);
    EXPECT_EQ(mixture.way_for(129), operators ? ExpertMixture::Way::together : ExpertMixture::Way::one_by_one);
  }
}

// Rows do not mix: a row's answer does not depend on the others of its product, beyond the last bits.
TEST(FeedForward, ExpertsWithoutRowsAreLeftOut) {
  const auto parts = random_parts(at::kFloat, false);
  const auto specification = specification_of(1, true);
  const auto mixture = mixture_of(parts, specification);
  draw_from(9);
  const auto row = at::randn({1, hidden}, at::kFloat);
  const auto same = row.expand({200, hidden}).contiguous();  // all of them choose one expert
  EXPECT_TRUE(agree(mixture.apply(same, {}), mixture.apply(row, {}).expand({200, hidden}).to(at::kDouble),
                    {at::kFloat, 4, 4e-6}));
}

// As a column it is added in float32; a sum of rounded parts would be rounded twice.
TEST(FeedForward, ABiasInAWeightIsAddedAsItWas) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const auto activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
      draw_from(4);
      const auto random = [&](std::vector<std::int64_t> shape) { return at::randn(shape, at::kFloat).to(type); };
      const auto linear = [&](std::int64_t out, std::int64_t in) {
        return Linear(random({out, in}), random({out}), Products::plain);
      };
      FeedForward layer{linear(inner, hidden), linear(hidden, inner)};
      CausalSpecification specification;
      specification.activation = activation;
      const auto input = random({7, hidden});
      const auto before = run_feed_forward(layer, specification, input, {});
      put_bias_into_weight(layer, activation);
      EXPECT_EQ(layer.outer.bias().defined(), activation == Activation::silu);
      EXPECT_TRUE(agree(run_feed_forward(layer, specification, input, {}), before, {type, 2, 1e-6}));
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
