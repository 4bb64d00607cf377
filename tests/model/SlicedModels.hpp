// Small checkpoints whose heads and inner numbers two and four divide, and what slices of them must answer together.
#pragma once

#include <ATen/ops/abs.h>
#include <ATen/ops/max.h>
#include <ATen/ops/std.h>
#include <ATen/ops/sub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/Bytes.hpp"
#include "base/text/Json.hpp"
#include "model/SafetensorsText.hpp"
#include "model/causal/CausalModel.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model::testing {

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
    data_ += floats(numbers);
    header_ += (header_.empty() ? "{" : ",") + entry_of(name, "F32", base::Json(shape).dump(), begin, data_.size());
    return *this;
  }

  base::FileSet files() const {
    base::FileSet files("/slices");
    files.add("config.json", base::to_shared(config_));
    files.add("model.safetensors", base::to_shared(file_of(header_ + "}", data_)));
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

inline Checkpoint llama_body(const std::string& config,
                             const std::vector<std::string>& norms = {"input_layernorm", "post_attention_layernorm"}) {
  Checkpoint checkpoint(config);
  checkpoint.add("model.embed_tokens.weight", {40, hidden}).add("model.norm.weight", {hidden}, 0.1F, 1.0F);
  checkpoint.add("lm_head.weight", {40, hidden});
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    for (const auto& norm : norms) {
      checkpoint.add(layer + norm + ".weight", {hidden}, 0.1F, 1.0F);
    }
    checkpoint.add(layer + "self_attn.q_proj.weight", {16, hidden})
        .add(layer + "self_attn.k_proj.weight", {8, hidden})
        .add(layer + "self_attn.v_proj.weight", {8, hidden})
        .add(layer + "self_attn.o_proj.weight", {hidden, 16});
  }
  return checkpoint;
}

// Four query heads and two key heads: on four ranks each key head lies on two of them. `settings`: more of config.json.
inline base::FileSet llama_like(const std::string& type, const std::string& settings = "",
                                const std::vector<std::string>& norms = {"input_layernorm",
                                                                         "post_attention_layernorm"}) {
  auto checkpoint = llama_body(R"({"model_type": ")" + type +
                                   R"(", "hidden_size": 16, "intermediate_size": 24, "vocab_size": 40, "head_dim": 4,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-05, "tie_word_embeddings": false)" +
                                   settings + "}",
                               norms);
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    checkpoint.add(layer + "mlp.gate_proj.weight", {inner, hidden})
        .add(layer + "mlp.up_proj.weight", {inner, hidden})
        .add(layer + "mlp.down_proj.weight", {hidden, inner});
  }
  return checkpoint.files();
}

inline base::FileSet llama() { return llama_like("llama"); }

// What attention and feed-forward layer add is scaled.
inline base::FileSet granite() { return llama_like("granite", R"(, "residual_multiplier": 0.5)"); }

// Both read the same input.
inline base::FileSet cohere2() {
  return llama_like("cohere2", R"(, "sliding_window": 4, "logit_scale": 1)", {"input_layernorm"});
}

// A norm of what each puts out.
inline base::FileSet gemma2() {
  return llama_like(
      "gemma2", R"(, "sliding_window": 4)",
      {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"});
}

inline base::FileSet mixtral() {
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

// Sinks, and experts with biases whose gates and ups take turns.
inline base::FileSet gpt_oss() {
  auto checkpoint =
      llama_body(R"({"model_type": "gpt_oss", "hidden_size": 16, "intermediate_size": 24, "vocab_size": 40,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "head_dim": 4, "attention_bias": false, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 4})");
  for (const std::string layer : {"model.layers.0.", "model.layers.1.", "model.layers.2."}) {
    checkpoint.add(layer + "self_attn.sinks", {4}, 2)
        .add(layer + "mlp.router.weight", {3, hidden})
        .add(layer + "mlp.router.bias", {3})
        .add(layer + "mlp.experts.gate_up_proj", {3, hidden, 2 * inner})
        .add(layer + "mlp.experts.gate_up_proj_bias", {3, 2 * inner})
        .add(layer + "mlp.experts.down_proj", {3, inner, hidden})
        .add(layer + "mlp.experts.down_proj_bias", {3, hidden});
  }
  return checkpoint.files();
}

// Biases everywhere, stored transposed: a bias of a sum must count once.
inline base::FileSet gpt2() {
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
inline TokenTree two_endings() {
  TokenTree tree;
  for (int i = 0; i < 20; ++i) {
    tree.ids.push_back((i * 7 + 3) % 40);
  }
  tree.branches = {{0, 6, -1, 0}, {6, 5, 0, 6}, {11, 2, 0, 6}, {13, 7, -1, 0}};
  return tree;
}

/// `sliced`: of this rank, on any device; `whole`: the same weights on the processor.
inline void expect_same(const CausalModel& sliced, const CausalModel& whole, at::ScalarType type) {
  const auto tree = two_endings();
  const std::vector<std::int64_t> rows = {0, 5, 10, 12, 19};
  const auto expected = whole.logits(whole.hidden(tree, whole.shape().num_layers, rows));
  const auto spread = expected.std().item<double>();
  EXPECT_GT(spread, 0.1);
  const double most =
      type == at::kFloat ? 1e-5 * std::max(1.0, spread) : stereosweep::testing::most_error(type, 3, spread);
  const auto expect_near = [&](const at::Tensor& found) {
    EXPECT_LT(found.to(at::kCPU).sub(expected).abs().max().item<double>(), most) << at::toString(type);
  };
  expect_near(sliced.logits(sliced.hidden(tree, sliced.shape().num_layers, rows)));
  const auto memory = sliced.remember(0);
  expect_near(sliced.logits(sliced.extend(*memory, tree, rows)));
}

}  // namespace stereosweep::model::testing
