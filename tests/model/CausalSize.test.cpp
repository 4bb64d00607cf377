// Sizes against what the models' publishers state.
#include "model/causal/CausalSize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model {
namespace {

using ::testing::ElementsAre;

CausalSpecification llama_70b() {
  CausalSpecification model;
  model.vocabulary = 128256;
  model.hidden = 8192;
  model.inner = 28672;
  model.num_heads = 64;
  model.num_key_heads = 8;
  model.head_width = 128;
  model.max_tokens = 8192;
  model.layers.resize(80);
  model.norm = NormKind::rms;
  model.gated = true;
  model.tied_head = false;
  return model;
}

CausalSpecification mixtral() {
  auto model = llama_70b();
  model.vocabulary = 32000;
  model.hidden = 4096;
  model.inner = 14336;
  model.num_heads = 32;
  model.layers.resize(32);
  model.experts = {.count = 8, .per_token = 2};
  return model;
}

double billions(std::uint64_t numbers) { return static_cast<double>(numbers) / 1e9; }

TEST(CausalSizeTest, CountsParametersAsPublished) {
  const auto llama = size_of(llama_70b());
  EXPECT_NEAR(billions(llama.embedding + llama.layers), 70.55, 0.01);
  const auto experts = size_of(mixtral());
  EXPECT_NEAR(billions(experts.embedding + experts.layers), 46.70, 0.01);
  CausalSpecification gpt2;
  gpt2.vocabulary = 50257;
  gpt2.hidden = 768;
  gpt2.inner = 3072;
  gpt2.num_heads = gpt2.num_key_heads = 12;
  gpt2.head_width = 64;
  gpt2.max_tokens = 1024;
  gpt2.layers.resize(12);
  gpt2.names.positions = "positions";
  const auto small = size_of(gpt2);
  EXPECT_NEAR(billions(small.embedding + small.layers), 0.1243, 0.0002);  // 0.1 million norms and biases
}

TEST(CausalSizeTest, ChoosesTheSmallestGroupThatHasRoom) {
  const auto model = llama_70b();
  EXPECT_THAT(tensor_parallel_choices(model, 16), ElementsAre(1, 2, 4, 8, 16));
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const auto on_80 = smallest_group(model, 2, {16384, {}}, 80 * gib);
  ASSERT_TRUE(on_80.has_value());
  EXPECT_EQ(on_80->tensor_parallel, 2);  // 131 GiB of bfloat16 weights
  EXPECT_LE(on_80->total(), 80 * gib);
  const auto on_24 = smallest_group(model, 2, {16384, {}}, 24 * gib);
  ASSERT_TRUE(on_24.has_value());
  EXPECT_GT(on_24->tensor_parallel, 4);
  EXPECT_FALSE(smallest_group(model, 2, {16384, {}}, gib).has_value());
}

TEST(CausalSizeTest, SlicesAddUpToTheWhole) {
  const auto model = mixtral();
  const auto size = size_of(model);
  const auto whole = memory_of(model, 2, {1, {}}, 1);
  EXPECT_EQ(whole.weights, (size.embedding + size.layers) * 2);
  const auto part = memory_of(model, 2, {1, {}}, 4);
  EXPECT_EQ(part.weights, (size.embedding + size.layers / 4) * 2);
  // 16 ranks and 8 key heads: every key head lies on two ranks.
  const auto repeated = memory_of(model, 2, {1, {}}, 16);
  EXPECT_EQ(repeated.weights,
            (size.embedding + size.layers / 16 + size.key_values * 4096 / 8 - size.key_values * 4096 / 16) * 2);
}

TEST(CausalSizeTest, ASliceAttendsWithItsHeadsAlone) {
  const auto model = llama_70b();
  const auto on_gpus = [&](int ranks) { return memory_of(model, 2, {16384, {}, Place::gpu}, ranks).gpu; };
  const std::uint64_t parts = std::uint64_t{16384} * 8192 * (4 + 4 * 2);  // a float32 sum, four parts of two bytes
  const std::uint64_t copies = std::uint64_t{16384} * 2 * 1024 * most_copies * 2;  // of keys and values
  EXPECT_EQ(on_gpus(2) - on_gpus(8), (parts + copies) / 2 - (parts + copies) / 8);
}

// 80 layers of 8 key heads of 128 numbers, keys and values, two bytes each; states of 8,192 numbers.
TEST(CausalSizeTest, CountsWhatTextsThatGrowRemember) {
  const auto model = llama_70b();
  EXPECT_EQ(memory_of(model, 2, {16384, {}}, 1).kept, 0U);
  const std::uint64_t row = std::uint64_t{80} * 8 * 128 * 2 * 2;
  const std::uint64_t states = std::uint64_t{100} * 8192 * 2;
  EXPECT_EQ(memory_of(model, 2, {16384, {100, 1000}}, 1).kept, 1000 * row + states);
  EXPECT_EQ(memory_of(model, 2, {16384, {100, 1000}}, 4).kept, 1000 * row / 4 + states);
  EXPECT_EQ(memory_of(model, 2, {16384, {100, 1000}}, 16).kept, 1000 * row / 8 + states) << "key heads are repeated";
  EXPECT_EQ(memory_of(model, 2, {16384, {100, 1000}}, 1).total() - memory_of(model, 2, {16384, {}}, 1).total(),
            1000 * row + states);
}

TEST(CausalSizeTest, RefusesCutsThatDoNotFit) {
  auto model = llama_70b();
  model.num_heads = 12;
  model.num_key_heads = 4;
  model.inner = 3072;
  EXPECT_THAT(tensor_parallel_choices(model, 12), ElementsAre(1, 2, 4, 12));
  model.query_key_norm = QueryKeyNorm::whole;
  EXPECT_THAT(tensor_parallel_choices(model, 12), ElementsAre(1));
}

}  // namespace
}  // namespace stereosweep::model
