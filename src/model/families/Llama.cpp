// LLaMA and its relatives: RMS norms, rotary positions, gated feed-forward layers, grouped keys.
// (source: transformers, modeling_llama.py, modeling_mistral.py, modeling_mixtral.py, modeling_qwen2.py,
// modeling_qwen3.py)
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

/// Every layer sees `window` tokens (0: all).
void set_window(std::int64_t window, CausalSpecification& specification) {
  for (auto& layer : specification.layers) {
    layer.window = window;
  }
}

/// Layers of which `slides` holds see a window, the others all; layer_types says it in place of it.
void set_windows(const base::JsonValue& fields, std::int64_t window, CausalSpecification& specification,
                 const auto& slides) {
  if (fields["layer_types"]) {
    set_layer_types(fields, window, specification);
    return;
  }
  for (std::size_t i = 0; i < specification.layers.size(); ++i) {
    specification.layers[i].window = slides(i) ? window : 0;
  }
}

/// Where keys are left out.
struct Windows {
  std::int64_t width = 4096;
  std::int64_t pattern = 2;
};
/// Every `pattern`-th layer sees all tokens, the others a window (sliding_window).
void set_windows(const base::JsonValue& fields, const Windows& defaults, CausalSpecification& specification) {
  const auto window = size_or_none(fields["sliding_window"], defaults.width);
  fields["sliding_window"].refuse_if(window == 0 && defaults.pattern > 1 && !fields["layer_types"], "null",
                                     "some layers of this family have a window");
  set_windows(fields, window, specification,
              [&](std::size_t layer) { return (static_cast<std::int64_t>(layer) + 1) % defaults.pattern != 0; });
}

/// A window counts only where use_sliding_window says so.
std::int64_t window_in_use(const base::JsonValue& fields, std::int64_t otherwise) {
  return fields["use_sliding_window"].flag_or(false) ? size_or_none(fields["sliding_window"], otherwise) : 0;
}

/// Bases of the angles where rope_parameters names none.
struct Thetas {
  double whole;   ///< of layers that see all tokens
  double window;  ///< of those with a window
};
/// Layers with a window turn by another angle than those without. Needs the windows.
void read_two_rotaries(const base::JsonValue& fields, Thetas thetas, CausalSpecification& specification) {
  const auto whole = fields["rope_parameters"]["full_attention"];
  const auto window = fields["rope_parameters"]["sliding_attention"];
  const auto scaling = fields["rope_scaling"];
  if (const auto type = scaling["type"]; type && !scaling["rope_type"]) {
    type.refuse("is not supported", "in this family transformers turns plainly then: rope_type says it");
  }
  specification.rotaries = {
      read_rotary_object(fields, scaling ? scaling : whole,
                         scaling ? whole["rope_theta"].positive_or(thetas.whole) : thetas.whole, {}, specification),
      read_rotary_object(fields, window, thetas.window, {}, specification)};
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 1 : 0;
  }
}

// Qwen: layers from max_window_layers on see a window.
void set_qwen_windows(const base::JsonValue& fields, CausalSpecification& specification) {
  set_windows(fields, window_in_use(fields, 4096), specification, [&](std::size_t layer) {
    return static_cast<std::int64_t>(layer) >= fields["max_window_layers"].size_or(28, 0);
  });
}

/// How many experts a layer has, and how many of them a token goes to.
void set_experts(const base::JsonValue& fields, const Experts& defaults, CausalSpecification& specification) {
  const auto all = first_of(fields, "num_local_experts|num_experts");
  const auto count = all.size_or(defaults.count);
  const auto per_token = fields["num_experts_per_tok"].size_or(defaults.per_token);
  (count > 4096 ? all : fields["num_experts_per_tok"])
      .refuse_if(count > 4096 || per_token > count, std::to_string(count > 4096 ? count : per_token),
                 "a token goes to some of the experts, of which there are 4096 at most");
  specification.experts.count = count;
  specification.experts.per_token = per_token;
}

/// LLaMA with its rotary positions, whose base is `theta` where no key says it, and its biases.
void set_plain_llama(const base::JsonValue& fields, double theta, CausalSpecification& specification) {
  read_rotary(fields, {.theta = theta}, specification);
  set_attention_bias(fields, specification);
  specification.names.feed_forward_bias = fields["mlp_bias"].flag_or(false);
}

/// Qwen 3: rotary positions, its windows, and norms of each head.
void set_qwen3(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {}, specification);
  set_qwen_windows(fields, specification);
  set_attention_bias(fields, specification);
  specification.query_key_norm = QueryKeyNorm::per_head;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
}

/// OLMo 2: norms behind each part, and over all queries and all keys. Without positions.
void set_olmo_like(const base::JsonValue& fields, CausalSpecification& specification) {
  set_attention_bias(fields, specification);
  specification.query_key_norm = QueryKeyNorm::whole;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.names.attention_norm = "";
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
}

void set_llama(const base::JsonValue& fields, CausalSpecification& specification) {
  set_plain_llama(fields, 10000, specification);
}

// Granite 3: LLaMA with factors of the embeddings, the scores, what each part adds, and the logits.
// (source: transformers, modeling_granite.py)

void set_granite(const base::JsonValue& fields, CausalSpecification& specification) {
  set_llama(fields, specification);
  specification.embedding_scale = static_cast<float>(fields["embedding_multiplier"].positive_or(1));
  specification.attention_scale = static_cast<float>(fields["attention_multiplier"].positive_or(1));
  specification.residual_scale = static_cast<float>(fields["residual_multiplier"].positive_or(1));
  specification.logits_scale = static_cast<float>(1 / fields["logits_scaling"].positive_or(1));
}

// SmolLM3: LLaMA in which every fourth layer does not turn by position.
// (source: transformers, modeling_smollm3.py, configuration_smollm3.py)

// A 1 for each layer that turns, and a 0 for each that does not.
void set_turning_layers(const base::JsonValue& fields, CausalSpecification& specification) {
  const auto listed = fields["no_rope_layers"];
  const auto interval = static_cast<std::size_t>(fields["no_rope_layer_interval"].size_or(4));
  const auto count = specification.layers.size();
  listed.refuse_if(listed && (!listed.json().is_array() || listed.json().size() < count),
                   "is no list of a number for each layer", "there are " + std::to_string(count) + " layers");
  for (std::size_t i = 0; i < count; ++i) {
    const bool turns = listed ? listed.json()[i] != 0 : (i + 1) % interval != 0;
    specification.layers[i].rotary = turns ? 0 : -1;
  }
}

void set_smollm3(const base::JsonValue& fields, CausalSpecification& specification) {
  set_plain_llama(fields, 2e6, specification);
  set_turning_layers(fields, specification);
  set_windows(fields, window_in_use(fields, 0), specification,
              [&](std::size_t layer) { return specification.layers[layer].rotary < 0; });
}

void set_mistral(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {}, specification);
  set_window(size_or_none(fields["sliding_window"], 4096), specification);
}

void set_mixtral(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {.theta = 1e6}, specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  set_experts(fields, {.count = 8, .per_token = 2}, specification);
}

void set_qwen2(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {}, specification);
  set_qwen_windows(fields, specification);
  specification.names.query_key_value_bias = true;
}

// Qwen 3 with experts in every layer.
// (source: transformers, modeling_qwen3_moe.py)

void set_qwen3_moe(const base::JsonValue& fields, CausalSpecification& specification) {
  set_qwen3(fields, specification);
  // All layers or none: max_window_layers is no key of this family.
  set_window(window_in_use(fields, 4096), specification);
  fields["mlp_only_layers"].refuse_if(!fields["mlp_only_layers"].json().empty(),
                                      "layers without experts are not supported",
                                      "all layers of the published models have them");
  fields["decoder_sparse_step"].refuse_if(fields["decoder_sparse_step"].size_or(1) != 1,
                                          "layers without experts are not supported",
                                          "all layers of the published models have them");
  specification.inner = fields["moe_intermediate_size"].size_or(768);
  set_experts(fields, {.count = 128, .per_token = 8}, specification);
  specification.experts.renormalize = fields["norm_topk_prob"].flag_or(false);
  specification.names.expert_inner = {"gate_proj", "up_proj"};
  specification.names.expert_outer = "down_proj";
}

// LLaMA's more distant relatives: Phi-3, OLMo 2, StarCoder2, StableLM.
// (source: transformers, modeling_phi3.py, modeling_olmo2.py, modeling_starcoder2.py, modeling_stablelm.py)

void set_phi3(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {.partial = PartialRotary::supported, .yarn = "longrope", .original_positions = 4096},
              specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  specification.names.packing = QueryKeyValuePacking::blocks;
  specification.names.query_key_value = {"self_attn.qkv_proj"};
  specification.names.inner = {"mlp.gate_up_proj"};
}

void set_olmo2(const base::JsonValue& fields, CausalSpecification& specification) {
  set_olmo_like(fields, specification);
  read_rotary(fields, {}, specification);
}

// OLMo 3: OLMo 2 with a window in three of four layers, which keep plain angles where the others' are stretched.
// (source: transformers, modeling_olmo3.py, configuration_olmo3.py)

void set_olmo3(const base::JsonValue& fields, CausalSpecification& specification) {
  constexpr double theta = 500000;
  set_olmo_like(fields, specification);
  set_windows(fields, {.pattern = 4}, specification);
  // rope_theta of the old spelling counts for the layers without a window alone: so transformers reads it.
  read_two_rotaries(fields, {fields["rope_theta"].positive_or(theta), theta}, specification);
}

void set_starcoder2(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {}, specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  specification.gated = false;
  auto& names = specification.names;
  names.query_key_value_bias = names.attention_output_bias = names.feed_forward_bias = fields["use_bias"].flag_or(true);
  names.inner = {"mlp.c_fc"};
  names.outer = "mlp.c_proj";
}

void set_stablelm(const base::JsonValue& fields, CausalSpecification& specification) {
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {.part = 0.25, .partial = PartialRotary::even}, specification);
  fields["qk_layernorm"].refuse_if(fields["qk_layernorm"].flag_or(false), "true is not supported",
                                   "heads without norms of their own are");
  specification.names.query_key_value_bias = fields["use_qkv_bias"].flag_or(false);
  if (fields["use_parallel_residual"].flag_or(false)) {
    specification.residual = Residual::parallel;
    specification.names.feed_forward_norm = "";
  }
}

// Command R7B and its kin: attention and feed-forward layer read the same input, norms without biases, scaled logits,
// and only layers with a window turn, neighbouring numbers together.
// (source: transformers, modeling_cohere2.py, configuration_cohere2.py)

void set_cohere2(const base::JsonValue& fields, CausalSpecification& specification) {
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  set_windows(fields, {.pattern = fields["sliding_window_pattern"].size_or(4)}, specification);
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 0 : -1;
  }
  set_attention_bias(fields, specification);
  specification.residual = Residual::parallel;
  specification.logits_scale = static_cast<float>(fields["logit_scale"].positive_or(0.0625));
  specification.names.norm_bias = false;
  specification.names.feed_forward_norm = "";
}

// GLM-4 (0414): norms on both sides of each part; half of a head turns, neighbouring numbers together.
// (source: transformers, modeling_glm4.py, configuration_glm4.py)

void set_glm4(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(fields, {.part = 0.5, .partial = PartialRotary::supported}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  auto& names = specification.names;
  names.query_key_value_bias = fields["attention_bias"].flag_or(true);
  names.attention_output_norm = "post_self_attn_layernorm";
  names.feed_forward_output_norm = "post_mlp_layernorm";
  names.inner = {"mlp.gate_up_proj"};
}

// GPT-OSS: experts with biases and clipped gates, a window in every second layer, and in attention a score for each
// head that takes its share of the weights and has no value. Its experts are published in blocks of four bits. (source:
// transformers, modeling_gpt_oss.py, configuration_gpt_oss.py)

/// How it turns where no key says it.
base::JsonDocument with_usual_rope(const base::JsonValue& fields) {
  base::JsonDocument more{fields.file(), fields.json()};
  if (!fields["rope_scaling"] && !fields["rope_parameters"]) {
    more.root["rope_parameters"] = {{"rope_type", "yarn"}, {"factor", 32.0},
                                    {"beta_fast", 32.0},   {"beta_slow", 1.0},
                                    {"truncate", false},   {"original_max_position_embeddings", 4096}};
  }
  return more;
}

void refuse_other_gates(const base::JsonValue& fields) {
  for (const auto& [key, usual] : {std::pair("swiglu_limit", silu_clip), {"swiglu_alpha", silu_slope}}) {
    const auto given = static_cast<float>(fields[key].positive_or(static_cast<double>(usual)));
    fields[key].refuse_if(given != usual, std::to_string(given) + " is not supported",
                          "the published models have " + std::to_string(usual));
  }
}

void set_gpt_oss(const base::JsonValue& fields, CausalSpecification& specification) {
  read_rotary(with_usual_rope(fields).value(), {.theta = 150000}, specification);
  set_windows(fields, {.width = 128, .pattern = 2}, specification);
  set_experts(fields, {.count = 128, .per_token = 4}, specification);
  refuse_other_gates(fields);
  specification.activation = Activation::clipped_silu;
  auto& names = specification.names;
  names.query_key_value_bias = fields["attention_bias"].flag_or(true);
  names.attention_output_bias = names.query_key_value_bias;
  names.sinks = "self_attn.sinks";
  names.router = "router";
  names.expert_packing = ExpertPacking::interleaved;
}

// Gemma 1, 2 and 3: norms that multiply by 1 + weight, scaled embeddings, and from 2 on norms on both sides of each
// part and layers with windows between those without. Of the Gemma 3 that sees, the part that reads.
// (source: transformers, modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py)

void set_gemma_like(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(specification.hidden)));
  set_attention_bias(fields, specification);
}

// What Gemma 2 added: four norms a layer, scores divided by a number of their own, capped logits.
void set_second_generation(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "pre_feedforward_layernorm";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
  specification.attention_scale = inverse_root(fields["query_pre_attn_scalar"].positive_or(256));
}

/// 0: none, as null says, too.
float cap(const base::JsonValue& value, double otherwise) {
  return static_cast<float>(value.positive_or(value.says_null() ? 0 : otherwise));
}

void set_gemma(const base::JsonValue& fields, CausalSpecification& specification) {
  set_gemma_like(fields, specification);
  if (specification.activation == Activation::gelu) {
    specification.activation = Activation::gelu_tanh;  // what the first files meant by gelu
  }
  read_rotary(fields, {}, specification);
}

void set_gemma2(const base::JsonValue& fields, CausalSpecification& specification) {
  set_gemma_like(fields, specification);
  set_second_generation(fields, specification);
  read_rotary(fields, {}, specification);
  set_windows(fields, {.pattern = 2}, specification);
  specification.attention_softcap = cap(fields["attn_logit_softcapping"], 50);
  specification.logits_softcap = cap(fields["final_logit_softcapping"], 30);
}

void set_gemma3_text(const base::JsonValue& fields, CausalSpecification& specification) {
  set_gemma_like(fields, specification);
  set_second_generation(fields, specification);
  set_windows(fields, {.pattern = fields["sliding_window_pattern"].size_or(6)}, specification);
  read_two_rotaries(fields, {fields["rope_theta"].positive_or(1e6), fields["rope_local_base_freq"].positive_or(10000)},
                    specification);
  specification.query_key_norm = QueryKeyNorm::per_head;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.logits_softcap = cap(fields["final_logit_softcapping"], 0);
}

void set_gemma3(const base::JsonValue& fields, CausalSpecification& specification) {
  set_gemma3_text(fields, specification);
  specification.names.prefixes = {"model.language_model.", "language_model.model."};
  specification.names.heads = {"lm_head", "language_model.lm_head"};
  specification.names.harmless_beginnings = {"model.vision_tower.", "model.multi_modal_projector.", "vision_tower.",
                                             "multi_modal_projector."};
}

/// LLaMA's keys, but for those of the norms and the activation.
constexpr Kin make_kin(NormKind norm, const char* norm_epsilon, const char* activation = "hidden_act") {
  return {.norm_epsilon = norm_epsilon,
          .activation = activation,
          .key_heads = "num_key_value_heads",
          .head_width = "head_dim",
          .norm = norm,
          .gated = true};
}
constexpr auto llama_kin = make_kin(NormKind::rms, "rms_norm_eps");
constexpr auto late_kin = make_kin(NormKind::rms_late, "rms_norm_eps");
constexpr auto gemma_kin = make_kin(NormKind::rms_gemma, "rms_norm_eps");
constexpr auto gemma2_kin = make_kin(NormKind::rms_gemma, "rms_norm_eps", "hidden_activation");
constexpr auto layer_norm_kin = make_kin(NormKind::layer, "layer_norm_eps");
constexpr auto starcoder_kin = make_kin(NormKind::layer, "norm_epsilon");

constexpr Usual starcoder_usual = {49152, 3072, 12288, 30, 24, 4096, 1e-5, "gelu_pytorch_tanh", true, 2};
constexpr Usual gemma3_usual = {262208, 2304, 9216, 26, 8, 131072, 1e-6, "gelu_pytorch_tanh", true, 4, 256};

constexpr CausalFamily llama_rows[] = {
    // {vocabulary, hidden, inner, layers, heads, positions, norm_epsilon, activation, tied, key_heads, head_width}
    {"llama", llama_kin, {32000, 4096, 11008, 32, 32, 2048, 1e-6, "silu", false}, set_llama, 2},
    {"mistral", llama_kin, {32000, 4096, 14336, 32, 32, 131072, 1e-6, "silu", false, 8}, set_mistral, 2},
    {"mixtral", llama_kin, {32000, 4096, 14336, 32, 32, 131072, 1e-5, "silu", false, 8}, set_mixtral, 2},
    {"qwen2", llama_kin, {151936, 4096, 22016, 32, 32, 32768, 1e-6, "silu", false, 32}, set_qwen2},
    {"qwen3", llama_kin, {151936, 4096, 22016, 32, 32, 32768, 1e-6, "silu", false, 32, 128}, set_qwen3},
    {"phi3", llama_kin, {32064, 3072, 8192, 32, 32, 4096, 1e-5, "silu", false}, set_phi3, 32000},
    {"olmo2", late_kin, {50304, 4096, 11008, 32, 32, 2048, 1e-5, "silu", false}, set_olmo2, 50279},
    {"starcoder2", starcoder_kin, starcoder_usual, set_starcoder2, 50256},
    {"stablelm", layer_norm_kin, {50304, 2560, 6912, 32, 32, 4096, 1e-5, "silu", false, 32}, set_stablelm, 0},
    {"gemma", gemma_kin, {256000, 3072, 24576, 28, 16, 8192, 1e-6, "gelu_pytorch_tanh", true, 16, 256}, set_gemma, 1},
    {"gemma2", gemma2_kin, {256000, 2304, 9216, 26, 8, 8192, 1e-6, "gelu_pytorch_tanh", true, 4, 256}, set_gemma2, 1},
    {"gemma3_text", gemma2_kin, gemma3_usual, set_gemma3_text, 1},
    {"gemma3", gemma2_kin, gemma3_usual, set_gemma3, std::nullopt, "text_config"},
    {"cohere2", layer_norm_kin, {256000, 8192, 22528, 40, 64, 8192, 1e-5, "silu", true}, set_cohere2, 255001},
    {"glm4", llama_kin, {151552, 4096, 13696, 40, 32, 131072, 1.5625e-7, "silu", false, 2, 128}, set_glm4},
    {"gpt_oss", late_kin, {201088, 2880, 2880, 36, 64, 131072, 1e-5, "silu", false, 8, 64}, set_gpt_oss},
    {"granite", llama_kin, {32000, 4096, 11008, 32, 32, 2048, 1e-6, "silu", false}, set_granite, 2},
    {"olmo3", late_kin, {50304, 4096, 11008, 32, 32, 2048, 1e-5, "silu", false}, set_olmo3, 50279},
    {"qwen3_moe", llama_kin, {151936, 2048, 6144, 24, 32, 32768, 1e-6, "silu", false, 4}, set_qwen3_moe},
    {"smollm3", llama_kin, {128256, 2048, 11008, 36, 16, 32768, 1e-6, "silu", true, 4}, set_smollm3, 128001}};

}  // namespace

std::span<const CausalFamily> llama_families() { return llama_rows; }

}  // namespace stereosweep::model::families
