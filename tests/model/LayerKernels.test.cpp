// Norms, activations and turning by our own kernels against float64 and against torch's operators.
#include "model/causal/LayerKernels.hpp"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "model/Difference.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/VectorLanes.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using stereosweep::testing::agree;
using stereosweep::testing::draw_from;

constexpr at::ScalarType all_types[] = {at::kFloat, at::kBFloat16, at::kHalf};

std::vector<Instructions> instruction_sets() {
  std::vector<Instructions> present;
  for (const auto instructions : {Instructions::baseline, Instructions::avx2, Instructions::avx512}) {
    if (has(instructions)) {
      present.push_back(instructions);
    } else {
      std::printf("this processor lacks one of the instruction sets: not compared\n");
    }
  }
  return present;
}

at::Tensor plain_norm(const at::Tensor& input, const Norm& norm, const NormRule& rule) {
  auto x = input.to(at::kDouble);
  if (rule.kind == NormKind::layer) {
    x = x.sub(x.mean(-1, true));
  }
  x = x.mul(x.square().mean(-1, true).add(rule.epsilon).rsqrt());
  x = x.mul(norm.weight.to(at::kDouble).add(rule.kind == NormKind::rms_gemma ? 1 : 0));
  return norm.bias.defined() ? x.add(norm.bias.to(at::kDouble)) : x;
}

constexpr NormKind kinds[] = {NormKind::layer, NormKind::rms, NormKind::rms_late, NormKind::rms_gemma};

TEST(LayerKernels, NormsAgreeWithFloat64AndOperators) {
  for (const std::int64_t width : {1, 7, 16, 40, 768}) {
    for (const auto kind : kinds) {
      const NormRule rule{kind, 1e-5};
      for (const auto type : all_types) {
        draw_from(static_cast<std::uint64_t>(width));
        const auto input = at::randn({9, width}, at::kFloat).mul_(3).add_(1).to(type);
        const Norm norm{at::randn({width}, at::kFloat).to(type),
                        kind == NormKind::layer ? at::randn({width}, at::kFloat).to(type) : at::Tensor()};
        const auto expected = plain_norm(input, norm, rule);
        const int roundings = kind == NormKind::rms ? 2 : 1;
        for (const auto instructions : instruction_sets()) {
          EXPECT_TRUE(agree(normalize(input, norm, rule, instructions), expected, {type, roundings, 3e-6}));
        }
        const auto own = normalize(input, norm, rule);
        const auto operators = normalize_with_operators(input, norm, rule);
        EXPECT_TRUE(agree(operators, expected, {type, 1, 3e-6}));
        if (type != at::kFloat && kind != NormKind::rms) {
          // the same roundings: at most one number in a hundred lies on a border, or all rows of a column
          const auto others = own.ne(operators).sum().item<std::int64_t>();
          EXPECT_LE(others, own.size(0) + own.numel() / 100) << "width " << width;
        }
        const auto residual = at::randn({9, width}, at::kFloat).to(type);
        EXPECT_TRUE(agree(normalize_and_add(input, norm, rule, residual), own.add(residual), {type, 3, 1e-6},
                          own.abs().add(residual.abs())));
      }
    }
  }
}

TEST(LayerKernels, PartsAreNormedByThemselves) {
  for (const auto type : all_types) {
    draw_from(1);
    const NormRule rule{NormKind::rms, 1e-6};
    const Norm norm{at::randn({20}, at::kFloat).to(type), {}};
    const auto wide = at::randn({5, 90}, at::kFloat).to(type);
    const auto before = wide.clone();
    const auto rows = wide.slice(1, 10, 70);
    normalize_parts(rows, 3, norm, rule);
    for (int part = 0; part < 3; ++part) {
      const auto begin = 10 + 20 * part;
      const auto found = wide.slice(1, begin, begin + 20);
      const auto expected = normalize(before.slice(1, begin, begin + 20), norm, rule);
      if (kernels_on(at::kCPU) == Kernels::own_kernels) {
        EXPECT_TRUE(found.equal(expected));
      } else {  // a whole row is rounded once less
        EXPECT_TRUE(agree(found, expected, {type, 3, 1e-6}));
      }
    }
    EXPECT_TRUE(wide.slice(1, 0, 10).equal(before.slice(1, 0, 10)));
    EXPECT_TRUE(wide.slice(1, 70).equal(before.slice(1, 70)));
  }
}

at::Tensor plain_activation(const at::Tensor& input, Activation activation) {
  const auto x = input.to(at::kDouble);
  switch (activation) {
    case Activation::gelu:
      return x.mul(at::erf(x.div(std::sqrt(2.0))).add(1)).mul(0.5);
    case Activation::gelu_tanh:
      return x.mul(at::tanh(x.pow(3).mul(0.044715).add(x).mul(std::sqrt(2 / std::acos(-1.0)))).add(1)).mul(0.5);
    case Activation::silu:
      return x.mul(at::sigmoid(x));
    case Activation::clipped_silu:
      return x.clamp_max(7).mul(at::sigmoid(x.clamp_max(7).mul(static_cast<double>(1.702F))));
    case Activation::relu:
      break;
  }
  return at::relu(x);
}

constexpr Activation activations[] = {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu};

TEST(LayerKernels, ActivationsAgreeWithFloat64) {
  for (const auto activation : activations) {
    for (const auto instructions : instruction_sets()) {
      for (const auto type : all_types) {
        const auto input =
            at::cat({at::linspace(-12, 12, 3003, at::kFloat), at::tensor({-1e4F, -90.F, 90.F, 1e4F, 0.F})})
                .view({4, 752})
                .to(type);
        const auto expected = plain_activation(input, activation);
        const auto found = activate_rows(input.clone(), activation, instructions).flatten();
        for (const auto& [begin, end] : {std::pair{0, 3003}, {3003, 3008}}) {  // the usual and the extreme
          EXPECT_TRUE(agree(found.slice(0, begin, end), expected.flatten().slice(0, begin, end), {type, 1, 2e-7}))
              << static_cast<int>(activation);
        }
        draw_from(static_cast<std::uint64_t>(activation));
        const auto gate_and_up = at::randn({6, 2 * 37}, at::kFloat).to(type);
        const auto gated = activate_gated(gate_and_up, activation, instructions);
        const auto product =
            plain_activation(gate_and_up.slice(1, 0, 37), activation).mul(gate_and_up.slice(1, 37).to(at::kDouble));
        EXPECT_TRUE(agree(gated, product, {type, 2, 1e-6})) << static_cast<int>(activation);
      }
    }
  }
}

// Gates beyond 7 and ups beyond 7 on both sides, widths that fill no vector.
TEST(LayerKernels, ClippedGatesAgreeWithFloat64) {
  for (const auto instructions : instruction_sets()) {
    for (const auto type : all_types) {
      draw_from(5);
      const auto gate_and_up = at::randn({6, 2 * 37}, at::kFloat).mul_(6).to(type);
      const auto up = gate_and_up.slice(1, 37).to(at::kDouble).clamp(-7, 7).add(1);
      const auto product = plain_activation(gate_and_up.slice(1, 0, 37), Activation::clipped_silu).mul(up);
      const auto found = activate_gated(gate_and_up, Activation::clipped_silu, instructions);
      EXPECT_TRUE(agree(found, product, {type, 4, 1e-6}, up.abs().mul(8)));
    }
  }
}

TEST(LayerKernels, ActivationsPassNaNOn) {
  for (const auto activation : activations) {
    for (const auto type : all_types) {
      draw_from(1);
      const auto input = at::randn({1, 40}, at::kFloat).to(type);
      input[0][17] = std::numeric_limits<float>::quiet_NaN();
      const auto out = activate_rows(input, activation);
      EXPECT_TRUE(out[0][17].isnan().item<bool>());
      EXPECT_EQ(out.isnan().sum().item<std::int64_t>(), 1);
    }
  }
}

// Sixteen numbers at a time through the kernels' own rounding.
struct RoundTrip {
  template <class>
  STEREOSWEEP_ALWAYS_INLINE static void run(const float* const& from, Float16Bits* const& stored, float* const& back) {
    lanes::Floats numbers;
    lanes::load(numbers, from);
    lanes::store(stored, numbers);
    lanes::load(numbers, stored);
    lanes::store(back, numbers);
  }
};

TEST(LayerKernels, Float16RoundsAsTorchDoes) {
  std::vector<std::int32_t> bits;
  for (std::int64_t half = 0; half < 65536; ++half) {  // every float16, what lies half-way behind it, and neighbours
    const float number = c10::Half(static_cast<std::uint16_t>(half), c10::Half::from_bits());
    const auto at = std::bit_cast<std::int32_t>(number);
    bits.insert(bits.end(), {at, at + 1, at - 1, at + 0x0fff, at + 0x1000, at + 0x1001});
  }
  for (std::uint32_t seed = 1, i = 0; i < 100000; ++i) {
    bits.push_back(static_cast<std::int32_t>(seed = seed * 1664525U + 1013904223U));
  }
  bits.resize((bits.size() + 15) / 16 * 16);
  const std::vector<float> numbers = [&] {
    std::vector<float> all;
    std::transform(bits.begin(), bits.end(), std::back_inserter(all),
                   [](auto one) { return std::bit_cast<float>(one); });
    return all;
  }();
  for (const auto instructions : instruction_sets()) {
    for (std::size_t i = 0; i < numbers.size(); i += 16) {
      Float16Bits stored[16];
      float back[16];
      lanes::run<RoundTrip>(instructions, &numbers[i], &stored[0], &back[0]);
      for (std::size_t lane = 0; lane < 16; ++lane) {
        const c10::Half expected(numbers[i + lane]);
        if (std::isnan(numbers[i + lane])) {
          ASSERT_TRUE(std::isnan(back[lane]));
          continue;
        }
        ASSERT_EQ(static_cast<std::uint16_t>(stored[lane]), expected.x) << numbers[i + lane];
        ASSERT_EQ(std::bit_cast<std::uint32_t>(back[lane]), std::bit_cast<std::uint32_t>(static_cast<float>(expected)));
      }
    }
  }
}

TEST(LayerKernels, TurningAgreesWithOperators) {
  const std::vector<std::int32_t> positions = {0, 5, 2, 90, 91, 3};
  const auto index = at::tensor(std::vector<std::int64_t>(positions.begin(), positions.end()));
  for (const auto pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
    for (const std::int64_t width : {2, 8, 36, 64, 96}) {
      Rotary rotary{width, pairs, {}, 1.5F};
      for (std::int64_t i = 0; i < width / 2; ++i) {
        rotary.inverse_frequencies.push_back(
            std::pow(1000.0F, -2.0F * static_cast<float>(i) / static_cast<float>(width)));
      }
      RotaryTable own_table(rotary, at::kCPU, Kernels::own_kernels);
      RotaryTable table(rotary, at::kCPU, Kernels::operators);
      const auto picked = [&](const RotaryAngles& all) -> RotaryAngles {
        return {all.cosines.index_select(0, index), all.sines.index_select(0, index)};
      };
      const auto own_angles = picked(own_table.at_least(92));
      const auto angles = picked(table.at_least(92));
      for (const auto type : all_types) {
        draw_from(static_cast<std::uint64_t>(width));
        const auto rows = at::randn({8, 3 * 100}, at::kFloat).to(type);
        const auto expected = rows.clone();
        table.turn(expected, 3, angles);
        EXPECT_FALSE(expected.equal(rows));
        EXPECT_TRUE(expected.slice(0, 6).equal(rows.slice(0, 6))) << "rows without a position stay";
        for (const auto instructions : instruction_sets()) {
          const auto own = rows.clone();
          own_table.turn(own, 3, own_angles, instructions);
          EXPECT_TRUE(agree(own, expected, {type, 2, 1e-6}));  // one rounding each
        }
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::model
