// Slices of a model on 1, 2 and 4 ranks together against the whole model on each.
#include <ATen/ops/abs.h>
#include <ATen/ops/max.h>
#include <ATen/ops/std.h>
#include <ATen/ops/sub.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "model/SafetensorsText.hpp"
#include "model/causal/CausalModel.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/families/Families.hpp"
#include "parallel/MpiSession.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using ::testing::HasSubstr;

// A checkpoint of tensors that are filled one after the other with the same numbers on every rank.
class Checkpoint {
 public:
  explicit Checkpoint(std::string config) : config_(std::move(config)) {}

  Checkpoint& add(const std::string& name, const std::vector<std::int64_t>& shape, float scale = 0.3F,
                  float middle = 0) {
    const auto count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (auto& number : numbers) {
      seed_ = seed_ * 6364136223846793005U + 1442695040888963407U;
      number = middle + scale * (static_cast<float>(seed_ >> 40) / static_cast<float>(1 << 23) - 1.0F);
    }
    const auto begin = data_.size();
    data_ += testing::floats(numbers);
    header_ +=
        (header_.empty() ? "{" : ",") + testing::entry_of(name, "F32", base::Json(shape).dump(), begin, data_.size());
    return *this;
  }

  base::FileSet files() const {
    base::FileSet files("/slices");
    files.add("config.json", base::to_shared(config_));
    files.add("model.safetensors", base::to_shared(testing::file_of(header_ + "}", data_)));
    return files;
  }

 private:
  std::string config_;
  std::string header_;
  std::string data_;
  std::uint64_t seed_ = 1;
};

constexpr std::int64_t hidden = 16;
constexpr std::int64_t inner = 24;

Checkpoint llama_body(const std::string& config) {
  Checkpoint checkpoint(config);
  checkpoint.add("model.embed_tokens.weight", {40, hidden}).add("model.norm.weight", {hidden}, 0.1F, 1.0F);
  checkpoint.add("lm_head.weight", {40, hidden});
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    checkpoint.add(layer + "input_layernorm.weight", {hidden}, 0.1F, 1.0F)
        .add(layer + "post_attention_layernorm.weight", {hidden}, 0.1F, 1.0F)
        .add(layer + "self_attn.q_proj.weight", {16, hidden})
        .add(layer + "self_attn.k_proj.weight", {8, hidden})
        .add(layer + "self_attn.v_proj.weight", {8, hidden})
        .add(layer + "self_attn.o_proj.weight", {hidden, 16});
  }
  return checkpoint;
}

// Four query heads and two key heads: on four ranks each key head lies on two of them.
base::FileSet llama() {
  auto checkpoint = llama_body(R"({"model_type": "llama", "hidden_size": 16, "intermediate_size": 24, "vocab_size": 40,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-05, "tie_word_embeddings": false})");
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    checkpoint.add(layer + "mlp.gate_proj.weight", {inner, hidden})
        .add(layer + "mlp.up_proj.weight", {inner, hidden})
        .add(layer + "mlp.down_proj.weight", {hidden, inner});
  }
  return checkpoint.files();
}

base::FileSet mixtral() {
  auto checkpoint =
      llama_body(R"({"model_type": "mixtral", "hidden_size": 16, "intermediate_size": 24, "vocab_size": 40,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "num_local_experts": 3, "num_experts_per_tok": 2})");
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    checkpoint.add(layer + "block_sparse_moe.gate.weight", {3, hidden});
    for (const std::string expert : {"0.", "1.", "2."}) {
      const auto name = layer + "block_sparse_moe.experts." + expert;
      checkpoint.add(name + "w1.weight", {inner, hidden})
          .add(name + "w2.weight", {hidden, inner})
          .add(name + "w3.weight", {inner, hidden});
    }
  }
  return checkpoint.files();
}

// Biases everywhere, stored transposed: a bias of a sum must count once.
base::FileSet gpt2() {
  Checkpoint checkpoint(R"({"model_type": "gpt2", "n_embd": 16, "n_inner": 24, "vocab_size": 40, "n_layer": 2,
    "n_head": 4, "n_positions": 64})");
  checkpoint.add("wte.weight", {40, hidden}).add("wpe.weight", {64, hidden});
  checkpoint.add("ln_f.weight", {hidden}, 0.1F, 1.0F).add("ln_f.bias", {hidden});
  for (const std::string layer : {"h.0.", "h.1."}) {
    for (const std::string norm : {"ln_1.", "ln_2."}) {
      checkpoint.add(layer + norm + "weight", {hidden}, 0.1F, 1.0F).add(layer + norm + "bias", {hidden});
    }
    checkpoint.add(layer + "attn.c_attn.weight", {hidden, 48}).add(layer + "attn.c_attn.bias", {48});
    checkpoint.add(layer + "attn.c_proj.weight", {16, hidden}).add(layer + "attn.c_proj.bias", {hidden});
    checkpoint.add(layer + "mlp.c_fc.weight", {hidden, inner}).add(layer + "mlp.c_fc.bias", {inner});
    checkpoint.add(layer + "mlp.c_proj.weight", {inner, hidden}).add(layer + "mlp.c_proj.bias", {hidden});
  }
  return checkpoint.files();
}

// Two endings after one beginning, and a sequence of its own.
TokenTree tree() {
  TokenTree tree;
  for (int i = 0; i < 20; ++i) {
    tree.ids.push_back((i * 7 + 3) % 40);
  }
  tree.branches = {{0, 6, -1, 0}, {6, 5, 0, 6}, {11, 2, 0, 6}, {13, 7, -1, 0}};
  return tree;
}

class TensorParallelTest : public ::testing::Test {
 protected:
  void expect_same(const base::FileSet& files, query::Dtype dtype) const {
    auto group = std::make_shared<parallel::TensorGroup>(session.world(), session.world());
    const auto sliced = CausalModel::load(files, dtype, query::Device::cpu, group);
    const auto whole = CausalModel::load(files, dtype, query::Device::cpu);
    const std::vector<std::int64_t> rows = {0, 5, 10, 12, 19};
    const auto expected = whole->logits(whole->hidden(tree(), whole->shape().num_layers, rows));
    const auto found = sliced->logits(sliced->hidden(tree(), sliced->shape().num_layers, rows));
    const auto spread = expected.std().item<double>();
    EXPECT_GT(spread, 0.1);
    const auto type = dtype == query::Dtype::bfloat16  ? at::kBFloat16
                      : dtype == query::Dtype::float16 ? at::kHalf
                                                       : at::kFloat;
    const double most = type == at::kFloat ? 1e-5 : stereosweep::testing::most_error(type, 3, spread);
    EXPECT_LT(found.sub(expected).abs().max().item<double>(), most);
    const auto memory = sliced->remember(0);
    const auto grown = sliced->logits(sliced->extend(*memory, tree(), rows));
    EXPECT_LT(grown.sub(expected).abs().max().item<double>(), most);
  }
  parallel::MpiSession session;
};

TEST_F(TensorParallelTest, LlamaEqualsTheWholeModel) {
  expect_same(llama(), query::Dtype::float32);
  expect_same(llama(), query::Dtype::bfloat16);
  expect_same(llama(), query::Dtype::float16);
}

TEST_F(TensorParallelTest, ExpertsEqualTheWholeModel) { expect_same(mixtral(), query::Dtype::float32); }

TEST_F(TensorParallelTest, BiasesCountOnce) { expect_same(gpt2(), query::Dtype::float32); }

TEST_F(TensorParallelTest, RefusesACutThatDoesNotFit) {
  const auto specification = read_causal_specification(llama());
  try {
    slice_of(specification, {0, 3});
    FAIL() << "three slices of four heads";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be cut into 3 slices"));
    EXPECT_THAT(error.what(), HasSubstr("4 query heads"));
  }
}

}  // namespace
}  // namespace stereosweep::model
