// The two ways to draw, against each other and against single rows.
#include "engine/readout/BatchSampler.hpp"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/RowsApart.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/RowSampling.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;

// Rows of every shape that logits take: spread, nearly even, with many equals, all equal.
at::Tensor rows_of_logits(std::int64_t width, std::mt19937& rng) {
  auto logits = at::empty({8, width}, at::TensorOptions(at::kFloat));
  for (std::int64_t row = 0; row < 8; ++row) {
    std::normal_distribution<float> normal(0, row % 2 == 0 ? 3.0F : 0.2F);
    float* numbers = logits.mutable_data_ptr<float>() + row * width;
    for (std::int64_t i = 0; i < width; ++i) {
      const float number = normal(rng);
      numbers[i] = row == 7 ? 1.5F : row >= 4 ? std::round(number) : number;
    }
  }
  return logits;
}

query::Generate random_fields(std::mt19937& rng) {
  query::Generate asked;
  asked.temperature = std::vector{0.0, 0.05, 0.7, 1.0, 3.0, 1e300, 1e-300}[rng() % 7];
  asked.top_k = std::vector{0, 0, 1, 2, 40, 700, 1023, 100000}[rng() % 8];
  asked.top_p = std::vector{1.0, 1.0, 0.99, 0.9, 0.3, 1e-9}[rng() % 6];
  asked.repetition_penalty = std::vector{1.0, 1.0, 1.3, 0.8, 50.0}[rng() % 5];
  asked.seed = rng();
  return asked;
}

TEST(BatchSampler, BothWaysDrawTheSameTokens) {
  std::mt19937 rng(1);
  for (const std::int64_t width : {1, 50, 256, 3001}) {
    const auto logits = rows_of_logits(width, rng);
    std::vector<query::Generate> asked(500);
    std::vector<std::vector<TokenId>> texts(asked.size());
    std::vector<DrawTask> tasks;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      asked[i] = random_fields(rng);
      for (unsigned j = 0; j < rng() % 20; ++j) {
        texts[i].push_back(static_cast<TokenId>(rng() % static_cast<std::uint64_t>(width + 2)));
      }
      const std::span<const TokenId> ids = texts[i];
      const auto prompt = ids.first(ids.size() / 2);
      tasks.push_back(
          {static_cast<std::int64_t>(rng() % 8), &asked[i], rng() % 100, prompt, ids.subspan(prompt.size())});
    }
    const auto by_kernels = draw_tokens(logits, tasks, model::Kernels::own_kernels);
    const auto by_operators = draw_tokens(logits, tasks, model::Kernels::operators);
    const auto from_apart = draw_tokens(testing::set_apart(logits), tasks, model::Kernels::operators);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto row = row_of(logits, tasks[i].row);
      const auto changed = penalized(row, tasks[i].prompt, tasks[i].added, asked[i].repetition_penalty);
      ASSERT_TRUE(by_kernels[i] && by_operators[i] && from_apart[i]);
      EXPECT_EQ(from_apart[i]->id, by_operators[i]->id);
      EXPECT_NEAR(from_apart[i]->logprob, by_operators[i]->logprob, 1e-6);
      EXPECT_EQ(by_kernels[i]->id, next_token(changed, sampling_of(asked[i], tasks[i].step, row.size())));
      EXPECT_EQ(by_operators[i]->id, by_kernels[i]->id)
          << width << " " << tasks[i].row << " " << asked[i].temperature << " " << asked[i].top_k << " "
          << asked[i].top_p << " " << asked[i].repetition_penalty;
      double total = 0;
      for (const float logit : row) {
        total += std::exp(static_cast<double>(logit));
      }
      const double expected = static_cast<double>(row[static_cast<std::size_t>(by_kernels[i]->id)]) - std::log(total);
      EXPECT_NEAR(by_kernels[i]->logprob, expected, 1e-6);
      EXPECT_NEAR(by_operators[i]->logprob, expected, 1e-5);
    }
  }
}

TEST(BatchSampler, RowsThatAreNotFiniteHaveNoToken) {
  std::mt19937 rng(2);
  for (const float fault : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    auto logits = rows_of_logits(300, rng);
    logits.mutable_data_ptr<float>()[300 + 77] = fault;
    std::vector<query::Generate> asked(100);
    std::vector<DrawTask> tasks;
    const std::vector<TokenId> ids = {5, 77};
    for (auto& one : asked) {
      one = random_fields(rng);
      tasks.push_back({static_cast<std::int64_t>(tasks.size() % 3), &one, 0, ids, {}});
    }
    for (const auto kernels : {model::Kernels::own_kernels, model::Kernels::operators}) {
      const auto drawn = draw_tokens(logits, tasks, kernels);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        EXPECT_EQ(drawn[i].has_value(), tasks[i].row != 1);
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::engine
