// What LLaMA and its relatives share: each is the reading of one of these and what it changes.
#pragma once

#include <cstdint>
#include <optional>

#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

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

/// LLaMA with its rotary positions, whose base is `theta` where no key says it, and its biases.
CausalSpecification read_plain_llama(const ConfigFields& fields, const LlamaDefaults& defaults, double theta);

/// Qwen 3: rotary positions, its windows, and norms of each head.
CausalSpecification read_qwen3_like(const ConfigFields& fields, const LlamaDefaults& defaults);

/// OLMo 2: norms behind each part, and over all queries and all keys. Without positions.
CausalSpecification read_olmo_like(const ConfigFields& fields);

/// attention_bias: of all four matrices of attention.
void set_attention_bias(const ConfigFields& fields, CausalSpecification& specification);

/// How many experts a layer has, and how many of them a token goes to.
void set_experts(const ConfigFields& fields, const Experts& defaults, CausalSpecification& specification);

/// A window (0: none) for each layer that layer_types calls sliding_attention.
void set_layer_types(const ConfigFields& fields, std::int64_t window, CausalSpecification& specification);

/// Where keys are left out.
struct Windows {
  std::int64_t width = 4096;
  std::int64_t pattern = 2;
};
/// Every `pattern`-th layer sees all tokens, the others a window (sliding_window); layer_types says it layer by layer.
void set_windows(const ConfigFields& fields, const Windows& defaults, CausalSpecification& specification);

/// Bases of the angles where rope_parameters names none.
struct Thetas {
  double whole;   ///< of layers that see all tokens
  double window;  ///< of those with a window
};
/// Layers with a window turn by another angle than those without. Needs the windows.
void read_two_rotaries(const ConfigFields& fields, Thetas thetas, CausalSpecification& specification);

}  // namespace stereosweep::model::families
