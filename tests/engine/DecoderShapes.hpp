// Small decoders for the tokens of CausalTokenizer.hpp.
#pragma once

#include <cmath>
#include <vector>

#include "model/CausalReference.hpp"
#include "model/causal/CausalSpecification.hpp"

namespace stereosweep::engine::testing {

/// Every way that a causal body can compute, in few models.
inline std::vector<model::CausalSpecification> decoder_shapes() {
  model::CausalSpecification base;
  base.family = "test";
  base.vocabulary = 270;
  base.hidden = 48;
  base.inner = 96;
  base.num_heads = 6;
  base.num_key_heads = 6;
  base.head_width = 8;
  base.max_tokens = 64;
  base.layers.assign(2, model::LayerKind{});
  base.norm_epsilon = 1e-5;
  base.attention_scale = 1 / std::sqrt(8.0F);
  base.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1}};
  std::vector<model::CausalSpecification> all;
  const auto add = [&](auto change) { change(all.emplace_back(base)); };
  add([](auto& s) {
    s.names.positions = "positions";
    s.rotaries.clear();
    s.activation = model::Activation::gelu_tanh;
    s.residual = model::Residual::after_adding;
  });
  add([](auto& s) {
    s.residual = model::Residual::parallel;
    s.activation = model::Activation::relu;
    s.num_key_heads = 1;
    s.rotaries.front().pairs = model::RotaryPairs::neighbours;
    s.logits_scale = 0.5F;
  });
  add([](auto& s) {
    s.rotaries.clear();
    s.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.703125F, 0.35351562F};
  });
  add([](auto& s) {
    s.norm = model::NormKind::rms;
    s.num_key_heads = 2;
    s.gated = true;
    s.activation = model::Activation::silu;
    s.experts = {5, 2, true};
    s.layers = {{5, 0}, {0, 0}};
  });
  add([](auto& s) {
    s.norm = model::NormKind::rms_gemma;
    s.gated = true;
    s.query_key_norm = model::QueryKeyNorm::per_head;
    s.attention_softcap = 2;
    s.logits_softcap = 3;
    s.embedding_scale = 1.5F;
  });
  add([](auto& s) {
    s.norm = model::NormKind::rms_late;
    s.query_key_norm = model::QueryKeyNorm::whole;
  });
  add([](auto& s) {  // bloom
    s.rotaries.clear();
    s.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.703125F, 0.35351562F};
    s.alibi_rounding = model::AlibiRounding::model;
    s.activation = model::Activation::gelu_tanh;
    s.names.embedding_norm = "norm";
  });
  add([](auto& s) {  // gpt_oss
    s.norm = model::NormKind::rms_late;
    s.num_key_heads = 2;
    s.gated = true;
    s.activation = model::Activation::clipped_silu;
    s.experts = {5, 2, true};
    s.layers = {{5, 0}, {0, 0}};
    s.names.sinks = "sinks";
  });
  return all;
}

/// A model of such a shape.
inline model::testing::PlainModel drawn_model(const model::CausalSpecification& shape) {
  return model::testing::random_model(
      shape, {.embedding = !shape.names.embedding_norm.empty(), .sinks = !shape.names.sinks.empty()}, 0.1);
}

}  // namespace stereosweep::engine::testing
