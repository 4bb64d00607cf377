// What LLaMA's relatives share.
#pragma once

#include <cstdint>
#include <optional>

#include "model/causal/CausalSpecification.hpp"
#include "model/checkpoint/ConfigFields.hpp"

namespace stereosweep::model::families {

/// transformers' defaults, where keys are left out; as they stand, LLaMA's.
struct LlamaDefaults {
  std::int64_t vocabulary = 32000;
  std::int64_t hidden = 4096;
  std::int64_t inner = 11008;
  std::int64_t layers = 32;
  std::int64_t heads = 32;
  std::optional<std::int64_t> key_heads = std::nullopt;  ///< none: as many as heads
  std::int64_t head_width = 0;                           ///< 0: hidden / heads
  std::int64_t positions = 2048;
  double norm_epsilon = 1e-6;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
  ConfigFields::Flag tied = ConfigFields::Flag::off;
};

/// Everything but positions, windows and biases.
CausalSpecification read_llama_like(const ConfigFields& fields, const LlamaDefaults& defaults);

/// attention_bias: of all four matrices of attention.
void set_attention_bias(const ConfigFields& fields, CausalSpecification& specification);

/// A window for each layer that layer_types calls sliding_attention.
void set_layer_types(const ConfigFields& fields, std::optional<std::int64_t> window,
                     CausalSpecification& specification);

}  // namespace stereosweep::model::families
