// An LSTM with projection over packed sequences, against its formulas in float64, one sequence at a time.
#include "model/elmo/Lstm.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Gates from -40 to 40, the small ones dense: where tanh loses digits and where e^x overflows.
at::Tensor wide_gates(std::int64_t rows, std::int64_t columns) { return at::randn({rows, columns}).pow(3).mul_(4); }

class LstmCells : public ::testing::TestWithParam<Instructions> {};

TEST_P(LstmCells, FollowTheFormulas) {
  if (!has(GetParam())) {
    GTEST_SKIP() << "this processor lacks the instruction set";
  }
  for (const std::int64_t cells : {1, 15, 16, 33, 512}) {
    for (const float clip : {0.0F, 0.75F}) {
      const std::vector<std::int64_t> rows = {4, 0, 4};
      CellStep step{wide_gates(5, 4 * cells),
                    rows.data(),
                    wide_gates(3, 4 * cells),
                    at::randn({3, cells}),
                    at::randn({3, cells}),
                    3,
                    clip};
      const auto before = step.memory.clone();
      step_cells(step, GetParam());
      for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
        for (std::int64_t i = 0; i < cells; ++i) {
          const auto gate = [&](std::int64_t part) {
            return step.input_gates[rows[static_cast<std::size_t>(sequence)]][part * cells + i].item<double>() +
                   step.state_gates[sequence][part * cells + i].item<double>();
          };
          double memory = sigmoid(gate(0)) * std::tanh(gate(1)) + sigmoid(gate(2)) * before[sequence][i].item<double>();
          memory = clip > 0 ? std::clamp(memory, -static_cast<double>(clip), static_cast<double>(clip)) : memory;
          EXPECT_NEAR(step.memory[sequence][i].item<double>(), memory, 2e-6 * std::max(1.0, std::abs(memory)));
          EXPECT_NEAR(step.output[sequence][i].item<double>(), sigmoid(gate(3)) * std::tanh(memory), 2e-6);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, LstmCells,
                         ::testing::Values(Instructions::baseline, Instructions::avx2, Instructions::avx512));

TEST(LstmCells, SmallGatesKeepTheirDigits) {
  for (const double size : {1e-6, 1e-3, 0.1, 0.6}) {
    const std::vector<std::int64_t> rows = {0};
    CellStep step{at::tensor({40.0, size, -40.0, 40.0}, at::kFloat).view({1, 4}),
                  rows.data(),
                  {},
                  at::tensor({5.0F}).view({1, 1}),
                  at::randn({1, 1}),
                  1,
                  0};
    step_cells(step);
    EXPECT_NEAR(step.memory.item<double>(), std::tanh(size), 5e-7 * size);
    EXPECT_NEAR(step.output.item<double>(), std::tanh(std::tanh(size)), 1e-6 * size);
  }
}

class LstmTest : public ::testing::Test {
 protected:
  LstmTest() {
    auto generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(11);  // torch draws one by chance otherwise
    options_.cell = 20;
    options_.projection = 6;
    options_.cell_clip = 0.9;
    options_.projection_clip = 0.8;
    tensors_["x/W_0"] = at::randn({12, 80});
    tensors_["x/B"] = at::randn({80});
    tensors_["x/W_P_0"] = at::randn({20, 6});
  }

  at::Tensor run(const at::Tensor& inputs, const std::vector<std::int64_t>& rows, const Sequences& sequences,
                 Direction direction) const {
    return Lstm(options_, tensors_, "x/", at::TensorOptions(at::kFloat)).run(inputs, rows, sequences, direction);
  }

  ElmoOptions options_;
  ElmoTensors tensors_;
};

Sequences of_lengths(const std::vector<std::int64_t>& lengths) {
  Sequences sequences{{}, lengths, 0};
  for (const auto length : lengths) {
    sequences.begins.push_back(sequences.tokens);
    sequences.tokens += length;
  }
  return sequences;
}

TEST_F(LstmTest, SequencesOfMixedLengthsRunAsIfAlone) {
  // Products of other heights may add up in another order, and weights as large as these carry a difference through
  // nine steps: up to 1.4e-5 was seen with other seeds on a processor with AVX2 alone.
  constexpr float rounding = 2e-5F;
  const auto sequences = of_lengths({9, 9, 5, 2, 1, 1});
  const auto inputs = at::randn({7, 6});
  std::vector<std::int64_t> rows(static_cast<std::size_t>(sequences.tokens));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<std::int64_t>(i * 5 % 7);
  }
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    const auto together = run(inputs, rows, sequences, direction);
    for (std::size_t i = 0; i < sequences.lengths.size(); ++i) {
      const auto begin = sequences.begins[i];
      const auto length = sequences.lengths[i];
      const std::vector<std::int64_t> own(rows.begin() + begin, rows.begin() + begin + length);
      const auto alone = run(inputs, own, of_lengths({length}), direction).slice(0, 0, length);
      EXPECT_LT(together.slice(0, begin, begin + length).sub(alone).abs().max().item<float>(), rounding);
    }
  }
}

TEST_F(LstmTest, BackwardsIsForwardsOverTheReversedSequence) {
  const auto inputs = at::randn({8, 6});
  std::vector<std::int64_t> rows(8);
  std::iota(rows.begin(), rows.end(), 0);
  const auto backwards = run(inputs, rows, of_lengths({8}), Direction::backwards);
  std::reverse(rows.begin(), rows.end());
  const auto forwards = run(inputs, rows, of_lengths({8}), Direction::forwards);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(backwards[i].sub(forwards[7 - i]).abs().max().item<float>(), 0);
  }
  EXPECT_EQ(forwards.abs().max().item<float>(), 0.8F);  // the clip is met
}

}  // namespace
}  // namespace stereosweep::model
