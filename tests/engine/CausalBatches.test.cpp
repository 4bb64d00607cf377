// The engine over real bodies: what a query's numbers owe to the rest of its block.
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/CausalTokenizer.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/kernels/Kernels.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

using model::CausalSpecification;

CausalSpecification gpt_like() {
  CausalSpecification settings;
  settings.family = "test";
  settings.vocabulary = 270;
  settings.hidden = 48;
  settings.inner = 96;
  settings.num_heads = 4;
  settings.num_key_heads = 4;
  settings.head_width = 12;
  settings.max_tokens = 64;
  settings.layers.assign(3, model::LayerKind{});
  settings.norm_epsilon = 1e-5;
  settings.attention_scale = 1 / std::sqrt(12.0F);
  settings.names.positions = "positions";
  settings.activation = model::Activation::gelu_tanh;
  settings.logits_scale = 0.3F;  // log-probabilities of usual sizes
  return settings;
}

CausalSpecification llama_like() {
  auto settings = gpt_like();
  settings.names.positions.clear();
  settings.num_key_heads = 2;
  settings.norm = model::NormKind::rms;
  settings.gated = true;
  settings.tied_head = false;
  std::vector<float> frequencies;
  for (int i = 0; i < 6; ++i) {
    frequencies.push_back(std::pow(0.3F, static_cast<float>(i)));
  }
  settings.rotaries = {model::Rotary{12, model::RotaryPairs::halves, frequencies, 1}};
  return settings;
}

class CausalBatches : public ::testing::TestWithParam<std::tuple<bool, at::ScalarType>> {
 protected:
  CausalBatches() {
    const auto settings = std::get<0>(GetParam()) ? gpt_like() : llama_like();
    stereosweep::testing::draw_from(7);
    plain = model::testing::random_model(settings, {});
  }

  std::unique_ptr<CausalEngine> engine(std::int64_t batch_tokens,
                                       model::Kernels kernels = model::Kernels::own_kernels) {
    auto weights = model::testing::weights_of(plain, std::get<1>(GetParam()));
    auto made = model::make_causal_model(plain.specification, std::move(weights), {.kernels = kernels});
    return std::make_unique<CausalEngine>(std::move(made), tokenizer, CausalSettings{batch_tokens, {}});
  }

  // Prompts of a few beginnings and many ends, some with several continuations.
  static std::vector<query::Query> block(int count) {
    std::mt19937 rng(5);
    const auto words = [&](std::uint64_t number) {
      std::string text;
      for (std::uint64_t i = 0; i < number; ++i) {
        const std::vector<std::string> list = {" the", " ab", " cd", " x", " a", "b", "?"};
        text += list[rng() % list.size()];
      }
      return text;
    };
    std::vector<std::string> beginnings;
    for (int i = 0; i < 6; ++i) {
      beginnings.push_back("x" + words(18));
    }
    std::vector<query::Query> queries;
    for (int i = 0; i < count; ++i) {
      query::Continue asked{beginnings[rng() % 6] + words(rng() % 12), {}, query::Framing::tokenizer};
      for (unsigned j = 0; j <= rng() % 2; ++j) {
        asked.continuations.push_back(" y" + words(rng() % 3));
      }
      queries.emplace_back(asked);
    }
    return queries;
  }

  double bound(double spread) const {
    const auto type = std::get<1>(GetParam());
    return type == at::kFloat ? 1e-5 : stereosweep::testing::most_error(type, 3, spread);
  }

  model::testing::PlainModel plain;
  tokenizer::Tokenizer tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
};

const std::vector<std::vector<double>>& numbers(const query::Answer& answer) {
  return std::get<query::ContinueAnswer>(answer).logprob;
}

TEST_P(CausalBatches, AQueryAloneEqualsItselfInABlock) {
  const auto queries = block(1000);
  const auto answers = engine(512)->answer(queries);
  const auto single = engine(512);
  double largest = 0;
  std::vector<double> all;
  for (std::size_t i = 0; i < queries.size(); i += 20) {
    const auto alone = single->answer({&queries[i], 1});
    for (std::size_t j = 0; j < numbers(alone[0]).size(); ++j) {
      ASSERT_EQ(numbers(alone[0])[j].size(), numbers(answers[i])[j].size());
      for (std::size_t k = 0; k < numbers(alone[0])[j].size(); ++k) {
        largest = std::max(largest, std::abs(numbers(alone[0])[j][k] - numbers(answers[i])[j][k]));
        all.push_back(numbers(alone[0])[j][k]);
      }
    }
  }
  const auto spread = at::tensor(all, at::kDouble).std().item<double>();
  EXPECT_LE(largest, bound(spread));
  EXPECT_GT(spread, 0.5) << "or the bound would say little";
}

TEST_P(CausalBatches, TheSameSetInAnotherOrderHasTheSameBits) {
  const auto queries = block(150);
  std::vector<std::size_t> order(queries.size() + 50);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  std::vector<query::Query> mixed;
  for (const auto i : order) {
    mixed.push_back(queries[i % queries.size()]);
  }
  const auto one = engine(512);
  const auto first = one->answer(queries);
  const auto second = engine(512)->answer(mixed);
  const auto again = one->answer(queries);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(numbers(second[i]), numbers(first[order[i] % queries.size()]));
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    ASSERT_EQ(numbers(again[i]), numbers(first[i]));
  }
}

// In float32 only: a rounding to bfloat16 may decide between two tokens.
class CausalTexts : public CausalBatches {};

TEST_P(CausalTexts, GreedyTextsAloneEqualThoseOfABlock) {
  std::vector<query::Query> queries;
  for (const auto& asked : block(12)) {
    queries.emplace_back(
        query::Generate{std::get<query::Continue>(asked).prompt, 10, 0, 0, 1, 0, {}, query::Framing::tokenizer});
  }
  const auto single = engine(512);
  const auto answers = single->answer(queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto alone = single->answer({&queries[i], 1});
    EXPECT_EQ(std::get<query::GenerateAnswer>(alone[0]).ids, std::get<query::GenerateAnswer>(answers[i]).ids);
  }
}

TEST_P(CausalTexts, TurnsOfASessionEqualTextsOfTheirOwn) {
  const auto single = engine(512);
  for (const auto kernels : {model::Kernels::own_kernels, model::Kernels::operators}) {
    std::vector<query::Query> queries;
    for (const auto& asked : block(5)) {
      queries.emplace_back(
          query::Generate{std::get<query::Continue>(asked).prompt, 4, 0, 0, 1, 0, {}, query::Framing::tokenizer});
    }
    const auto one = engine(512, kernels);
    const auto session = one->begin_session();
    for (int turn = 0; turn < 3; ++turn) {
      const auto call = session->plan(queries);
      call->run();
      const auto answers = call->read();
      for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto& text = std::get<query::GenerateAnswer>(answers[i]);
        const auto alone = std::get<query::GenerateAnswer>(single->answer({&queries[i], 1}).front());
        EXPECT_EQ(text.ids, alone.ids);
        EXPECT_NEAR(text.mean_logprob, alone.mean_logprob, 1e-5);
        const auto said = tokenizer.encode(text.text, tokenizer::SpecialTokens::leave_out).ids;
        std::get<query::Generate>(queries[i]).prompt += (said == text.ids ? text.text : "") + " ab the";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bodies, CausalBatches,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf)));

INSTANTIATE_TEST_SUITE_P(Bodies, CausalTexts, ::testing::Combine(::testing::Bool(), ::testing::Values(at::kFloat)));

}  // namespace
}  // namespace stereosweep::engine
