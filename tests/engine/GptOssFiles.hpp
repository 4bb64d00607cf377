// A tiny GPT-OSS for the tokens of CausalTokenizer.hpp, its experts in blocks of four bits (MXFP4) as published.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/TinyCheckpoint.hpp"

namespace stereosweep::engine::testing {

inline base::FileSet gpt_oss_files() {
  constexpr std::int64_t words = 270, hidden = 64, inner = 32, experts = 4, heads = 8, key_heads = 2, width = 8;
  constexpr std::int64_t of_a_block = 32;
  constexpr int scale_of_one = 127;
  model::testing::TinyCheckpoint tiny;
  tiny.config =
      R"({"model_type":"gpt_oss","vocab_size":270,"hidden_size":64,"intermediate_size":32,"num_hidden_layers":2,)"
      R"("num_attention_heads":8,"num_key_value_heads":2,"head_dim":8,"max_position_embeddings":64,"sliding_window":5,)"
      R"("num_local_experts":4,"num_experts_per_tok":2,"quantization_config":{"quant_method":"mxfp4"}})";
  std::mt19937 random(11);
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape, float centre, float spread) {
    tiny.tensors[name] = model::testing::tiny_tensor(random, std::move(shape), centre, spread);
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in}, 0, 0.2F);
    add(name + ".bias", {out}, 0, 0.1F);
  };
  const auto in_blocks = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    const auto blocks = in / of_a_block;
    std::string codes;
    std::string scales;
    for (std::int64_t i = 0; i < experts * out * blocks * of_a_block / 2; ++i) {
      codes += static_cast<char>(random());
    }
    for (std::int64_t i = 0; i < experts * out * blocks; ++i) {
      scales += static_cast<char>(scale_of_one - 4 - static_cast<int>(random() % 3));
    }
    tiny.tensors[name + "_blocks"] = {"U8", {experts, out, blocks, of_a_block / 2}, codes};
    tiny.tensors[name + "_scales"] = {"U8", {experts, out, blocks}, scales};
    add(name + "_bias", {experts, out}, 0, 0.1F);
  };
  add("model.embed_tokens.weight", {words, hidden}, 0, 1);
  add("model.norm.weight", {hidden}, 1, 0.1F);
  add("lm_head.weight", {words, hidden}, 0, 0.3F);
  for (const std::string scope : {"model.layers.0.", "model.layers.1."}) {
    add(scope + "input_layernorm.weight", {hidden}, 1, 0.1F);
    add(scope + "post_attention_layernorm.weight", {hidden}, 1, 0.1F);
    linear(scope + "self_attn.q_proj", heads * width, hidden);
    linear(scope + "self_attn.k_proj", key_heads * width, hidden);
    linear(scope + "self_attn.v_proj", key_heads * width, hidden);
    linear(scope + "self_attn.o_proj", hidden, heads * width);
    add(scope + "self_attn.sinks", {heads}, 0, 1);
    linear(scope + "mlp.router", experts, hidden);
    in_blocks(scope + "mlp.experts.gate_up_proj", 2 * inner, hidden);
    in_blocks(scope + "mlp.experts.down_proj", hidden, inner);
  }
  return tiny.files();
}

}  // namespace stereosweep::engine::testing
