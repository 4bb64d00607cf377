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

constexpr std::int64_t most_head_width = 65536;  // a hostile file must not make us allocate billions of frequencies

/// transformers' defaults, where keys are left out; as they stand, LLaMA's.
struct LlamaDefaults {
  std::int64_t vocabulary = 32000;
  std::int64_t hidden = 4096;
  std::int64_t inner = 11008;
  std::int64_t layers = 32;
  std::int64_t heads = 32;
  std::int64_t key_heads = 0;   ///< 0: as many as heads
  std::int64_t head_width = 0;  ///< 0: hidden / heads
  std::int64_t positions = 2048;
  double norm_epsilon = 1e-6;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
  bool tied = false;
};

/// A number whose null means "none", as 0 does here.
std::int64_t size_or_none(const base::JsonValue& value, std::int64_t otherwise) {
  return value.size_or(value.says_null() ? 0 : otherwise);
}

/// Everything but positions, windows and biases.
CausalSpecification read_llama_like(const base::JsonValue& fields, const LlamaDefaults& defaults) {
  const Sizes sizes = {{{"vocab_size"}, defaults.vocabulary},
                       {{"hidden_size"}, defaults.hidden},
                       {{"num_hidden_layers"}, defaults.layers},
                       {{"num_attention_heads"}, defaults.heads},
                       {{"max_position_embeddings"}, defaults.positions}};
  auto specification = read_sizes(fields, sizes);
  const auto width = fields["head_dim"].size_or(defaults.head_width);
  fields["head_dim"].refuse_if(width > most_head_width, std::to_string(width),
                               "at most " + std::to_string(most_head_width) + " is supported");
  if (width > 0) {
    specification.head_width = width;
    specification.attention_scale = inverse_root(static_cast<double>(width));
  } else {
    set_head_width(fields, sizes, specification);
  }
  const auto key_heads = size_or_none(fields["num_key_value_heads"], defaults.key_heads);
  set_key_heads(fields["num_key_value_heads"], key_heads > 0 ? key_heads : specification.num_heads, specification);
  specification.inner = fields["intermediate_size"].size_or(defaults.inner);
  specification.norm = NormKind::rms;
  specification.norm_epsilon = fields["rms_norm_eps"].fraction_or(defaults.norm_epsilon);
  specification.activation = read_activation(fields, defaults.activation_key, defaults.activation);
  specification.gated = true;
  specification.tied_head = fields["tie_word_embeddings"].flag_or(defaults.tied);
  specification.names.harmless_endings = {"rotary_emb.inv_freq"};
  return specification;
}

/// attention_bias: of all four matrices of attention.
void set_attention_bias(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.names.query_key_value_bias = fields["attention_bias"].flag_or(false);
  specification.names.attention_output_bias = specification.names.query_key_value_bias;
}

/// Where keys are left out.
struct Windows {
  std::int64_t width = 4096;
  std::int64_t pattern = 2;
};
/// Every `pattern`-th layer sees all tokens, the others a window (sliding_window); layer_types says it layer by layer.
void set_windows(const base::JsonValue& fields, const Windows& defaults, CausalSpecification& specification) {
  const auto window = size_or_none(fields["sliding_window"], defaults.width);
  if (fields["layer_types"]) {
    set_layer_types(fields, window, specification);
    return;
  }
  for (std::size_t i = 0; i < specification.layers.size(); ++i) {
    const bool slides = (static_cast<std::int64_t>(i) + 1) % defaults.pattern != 0;
    fields["sliding_window"].refuse_if(slides && window == 0, "null", "some layers of this family have a window");
    specification.layers[i].window = slides ? window : 0;
  }
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

// Qwen: layers from max_window_layers on see a window, where use_sliding_window says so.
void set_qwen_windows(const base::JsonValue& fields, CausalSpecification& specification) {
  const std::int64_t window =
      fields["use_sliding_window"].flag_or(false) ? size_or_none(fields["sliding_window"], 4096) : 0;
  if (fields["layer_types"]) {
    set_layer_types(fields, window, specification);
    return;
  }
  const auto first = static_cast<std::size_t>(fields["max_window_layers"].size_or(28, 0));
  for (std::size_t i = first; i < specification.layers.size(); ++i) {
    specification.layers[i].window = window;
  }
}

/// How many experts a layer has, and how many of them a token goes to.
void set_experts(const base::JsonValue& fields, const Experts& defaults, CausalSpecification& specification) {
  const auto all = first_of(fields, {"num_local_experts", "num_experts"});
  const auto count = all.size_or(defaults.count);
  const auto per_token = fields["num_experts_per_tok"].size_or(defaults.per_token);
  (count > 4096 ? all : fields["num_experts_per_tok"])
      .refuse_if(count > 4096 || per_token > count, std::to_string(count > 4096 ? count : per_token),
                 "a token goes to some of the experts, of which there are 4096 at most");
  specification.experts.count = count;
  specification.experts.per_token = per_token;
}

/// LLaMA with its rotary positions, whose base is `theta` where no key says it, and its biases.
CausalSpecification read_plain_llama(const base::JsonValue& fields, const LlamaDefaults& defaults, double theta) {
  auto specification = read_llama_like(fields, defaults);
  read_rotary(fields, {.theta = theta}, specification);
  set_attention_bias(fields, specification);
  specification.names.feed_forward_bias = fields["mlp_bias"].flag_or(false);
  return specification;
}

/// Qwen 3: rotary positions, its windows, and norms of each head.
CausalSpecification read_qwen3_like(const base::JsonValue& fields, const LlamaDefaults& defaults) {
  auto specification = read_llama_like(fields, defaults);
  read_rotary(fields, {}, specification);
  set_qwen_windows(fields, specification);
  set_attention_bias(fields, specification);
  specification.query_key_norm = QueryKeyNorm::per_head;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  return specification;
}

/// OLMo 2: norms behind each part, and over all queries and all keys. Without positions.
CausalSpecification read_olmo_like(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 50304, .norm_epsilon = 1e-5});
  set_attention_bias(fields, specification);
  specification.norm = NormKind::rms_late;
  specification.query_key_norm = QueryKeyNorm::whole;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.names.attention_norm = "";
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
  return specification;
}

CausalSpecification read_llama(const base::JsonValue& fields) { return read_plain_llama(fields, {}, 10000); }

// Granite 3: LLaMA with factors of the embeddings, the scores, what each part adds, and the logits.
// (source: transformers, modeling_granite.py)

CausalSpecification read_granite(const base::JsonValue& fields) {
  auto specification = read_plain_llama(fields, {}, 10000);
  specification.embedding_scale = static_cast<float>(fields["embedding_multiplier"].positive_or(1));
  specification.attention_scale = static_cast<float>(fields["attention_multiplier"].positive_or(1));
  specification.residual_scale = static_cast<float>(fields["residual_multiplier"].positive_or(1));
  specification.logits_scale = static_cast<float>(1 / fields["logits_scaling"].positive_or(1));
  return specification;
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

CausalSpecification read_smollm3(const base::JsonValue& fields) {
  auto specification = read_plain_llama(fields,
                                        {.vocabulary = 128256,
                                         .hidden = 2048,
                                         .layers = 36,
                                         .heads = 16,
                                         .key_heads = 4,
                                         .positions = 32768,
                                         .tied = true},
                                        2e6);
  set_turning_layers(fields, specification);
  const auto window = fields["use_sliding_window"].flag_or(false) ? size_or_none(fields["sliding_window"], 0) : 0;
  if (fields["layer_types"]) {
    set_layer_types(fields, window, specification);
    return specification;
  }
  for (auto& layer : specification.layers) {
    layer.window = layer.rotary < 0 ? window : 0;
  }
  return specification;
}

CausalSpecification read_mistral(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.inner = 14336, .key_heads = 8, .positions = 131072});
  read_rotary(fields, {}, specification);
  set_window(size_or_none(fields["sliding_window"], 4096), specification);
  return specification;
}

CausalSpecification read_mixtral(const base::JsonValue& fields) {
  auto specification =
      read_llama_like(fields, {.inner = 14336, .key_heads = 8, .positions = 131072, .norm_epsilon = 1e-5});
  read_rotary(fields, {.theta = 1e6}, specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  set_experts(fields, {.count = 8, .per_token = 2}, specification);
  return specification;
}

CausalSpecification read_qwen2(const base::JsonValue& fields) {
  auto specification =
      read_llama_like(fields, {.vocabulary = 151936, .inner = 22016, .key_heads = 32, .positions = 32768});
  read_rotary(fields, {}, specification);
  set_qwen_windows(fields, specification);
  specification.names.query_key_value_bias = true;
  return specification;
}

CausalSpecification read_qwen3(const base::JsonValue& fields) {
  return read_qwen3_like(
      fields, {.vocabulary = 151936, .inner = 22016, .key_heads = 32, .head_width = 128, .positions = 32768});
}

// Qwen 3 with experts in every layer.
// (source: transformers, modeling_qwen3_moe.py)

CausalSpecification read_qwen3_moe(const base::JsonValue& fields) {
  auto specification = read_qwen3_like(
      fields, {.vocabulary = 151936, .hidden = 2048, .inner = 6144, .layers = 24, .key_heads = 4, .positions = 32768});
  // All layers or none: max_window_layers is no key of this family.
  set_window(fields["use_sliding_window"].flag_or(false) ? size_or_none(fields["sliding_window"], 4096) : 0,
             specification);
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
  return specification;
}

// LLaMA's more distant relatives: Phi-3, OLMo 2, StarCoder2, StableLM.
// (source: transformers, modeling_phi3.py, modeling_olmo2.py, modeling_starcoder2.py, modeling_stablelm.py)

CausalSpecification read_phi3(const base::JsonValue& fields) {
  auto specification = read_llama_like(
      fields, {.vocabulary = 32064, .hidden = 3072, .inner = 8192, .positions = 4096, .norm_epsilon = 1e-5});
  read_rotary(fields, {.partial = PartialRotary::supported, .yarn = "longrope", .original_positions = 4096},
              specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  specification.names.packing = QueryKeyValuePacking::blocks;
  specification.names.query_key_value = {"self_attn.qkv_proj"};
  specification.names.inner = {"mlp.gate_up_proj"};
  return specification;
}

CausalSpecification read_olmo2(const base::JsonValue& fields) {
  auto specification = read_olmo_like(fields);
  read_rotary(fields, {}, specification);
  return specification;
}

// OLMo 3: OLMo 2 with a window in three of four layers, which keep plain angles where the others' are stretched.
// (source: transformers, modeling_olmo3.py, configuration_olmo3.py)

CausalSpecification read_olmo3(const base::JsonValue& fields) {
  constexpr double theta = 500000;
  auto specification = read_olmo_like(fields);
  set_windows(fields, {.pattern = 4}, specification);
  // rope_theta of the old spelling counts for the layers without a window alone: so transformers reads it.
  read_two_rotaries(fields, {fields["rope_theta"].positive_or(theta), theta}, specification);
  return specification;
}

CausalSpecification read_starcoder2(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 49152,
                                                .hidden = 3072,
                                                .inner = 12288,
                                                .layers = 30,
                                                .heads = 24,
                                                .key_heads = 2,
                                                .positions = 4096,
                                                .activation = "gelu_pytorch_tanh",
                                                .tied = true});
  read_rotary(fields, {}, specification);
  set_window(size_or_none(fields["sliding_window"], 0), specification);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields["norm_epsilon"].fraction_or(1e-5);
  specification.gated = false;
  const bool biases = fields["use_bias"].flag_or(true);
  specification.names.query_key_value_bias = biases;
  specification.names.attention_output_bias = biases;
  specification.names.feed_forward_bias = biases;
  specification.names.inner = {"mlp.c_fc"};
  specification.names.outer = "mlp.c_proj";
  return specification;
}

CausalSpecification read_stablelm(const base::JsonValue& fields) {
  auto specification =
      read_llama_like(fields, {.vocabulary = 50304, .hidden = 2560, .inner = 6912, .key_heads = 32, .positions = 4096});
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {.part = 0.25, .partial = PartialRotary::even}, specification);
  fields["qk_layernorm"].refuse_if(fields["qk_layernorm"].flag_or(false), "true is not supported",
                                   "heads without norms of their own are");
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields["layer_norm_eps"].fraction_or(1e-5);
  specification.names.query_key_value_bias = fields["use_qkv_bias"].flag_or(false);
  if (fields["use_parallel_residual"].flag_or(false)) {
    specification.residual = Residual::parallel;
    specification.names.feed_forward_norm = "";
  }
  return specification;
}

// Command R7B and its kin: attention and feed-forward layer read the same input, norms without biases, scaled logits,
// and only layers with a window turn, neighbouring numbers together.
// (source: transformers, modeling_cohere2.py, configuration_cohere2.py)

CausalSpecification read_cohere2(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 256000,
                                                .hidden = 8192,
                                                .inner = 22528,
                                                .layers = 40,
                                                .heads = 64,
                                                .positions = 8192,
                                                .tied = true});
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  set_windows(fields, {.pattern = fields["sliding_window_pattern"].size_or(4)}, specification);
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 0 : -1;
  }
  set_attention_bias(fields, specification);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields["layer_norm_eps"].fraction_or(1e-5);
  specification.residual = Residual::parallel;
  specification.logits_scale = static_cast<float>(fields["logit_scale"].positive_or(0.0625));
  specification.names.norm_bias = false;
  specification.names.feed_forward_norm = "";
  return specification;
}

// GLM-4 (0414): norms on both sides of each part; half of a head turns, neighbouring numbers together.
// (source: transformers, modeling_glm4.py, configuration_glm4.py)

CausalSpecification read_glm4(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 151552,
                                                .inner = 13696,
                                                .layers = 40,
                                                .key_heads = 2,
                                                .head_width = 128,
                                                .positions = 131072,
                                                .norm_epsilon = 1.5625e-7});
  read_rotary(fields, {.part = 0.5, .partial = PartialRotary::supported}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  auto& names = specification.names;
  names.query_key_value_bias = fields["attention_bias"].flag_or(true);
  names.attention_output_norm = "post_self_attn_layernorm";
  names.feed_forward_output_norm = "post_mlp_layernorm";
  names.inner = {"mlp.gate_up_proj"};
  return specification;
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

CausalSpecification read_gpt_oss(const base::JsonValue& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 201088,
                                                .hidden = 2880,
                                                .inner = 2880,
                                                .layers = 36,
                                                .heads = 64,
                                                .key_heads = 8,
                                                .head_width = 64,
                                                .positions = 131072,
                                                .norm_epsilon = 1e-5});
  read_rotary(with_usual_rope(fields).value(), {.theta = 150000}, specification);
  set_windows(fields, {.width = 128, .pattern = 2}, specification);
  set_experts(fields, {.count = 128, .per_token = 4}, specification);
  refuse_other_gates(fields);
  specification.norm = NormKind::rms_late;
  specification.activation = Activation::clipped_silu;
  auto& names = specification.names;
  names.query_key_value_bias = fields["attention_bias"].flag_or(true);
  names.attention_output_bias = names.query_key_value_bias;
  names.sinks = "self_attn.sinks";
  names.router = "router";
  names.expert_packing = ExpertPacking::interleaved;
  return specification;
}

// Gemma 1, 2 and 3: norms that multiply by 1 + weight, scaled embeddings, and from 2 on norms on both sides of each
// part and layers with windows between those without. Of the Gemma 3 that sees, the part that reads.
// (source: transformers, modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py)

CausalSpecification read_gemma_like(const base::JsonValue& fields, const LlamaDefaults& defaults) {
  auto specification = read_llama_like(fields, defaults);
  specification.norm = NormKind::rms_gemma;
  specification.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(specification.hidden)));
  set_attention_bias(fields, specification);
  return specification;
}

// What Gemma 2 added: four norms a layer, scores divided by a number of their own, capped logits.
void read_second_generation(const base::JsonValue& fields, CausalSpecification& specification) {
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "pre_feedforward_layernorm";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
  specification.attention_scale = inverse_root(fields["query_pre_attn_scalar"].positive_or(256));
}

/// 0: none, as null says, too.
float cap(const base::JsonValue& value, double otherwise) {
  return static_cast<float>(value.positive_or(value.says_null() ? 0 : otherwise));
}

const LlamaDefaults gemma2_defaults = {.vocabulary = 256000,
                                       .hidden = 2304,
                                       .inner = 9216,
                                       .layers = 26,
                                       .heads = 8,
                                       .key_heads = 4,
                                       .head_width = 256,
                                       .positions = 8192,
                                       .activation_key = "hidden_activation",
                                       .activation = "gelu_pytorch_tanh",
                                       .tied = true};

CausalSpecification read_gemma(const base::JsonValue& fields) {
  auto specification = read_gemma_like(fields, {.vocabulary = 256000,
                                                .hidden = 3072,
                                                .inner = 24576,
                                                .layers = 28,
                                                .heads = 16,
                                                .key_heads = 16,
                                                .head_width = 256,
                                                .positions = 8192,
                                                .activation = "gelu_pytorch_tanh",
                                                .tied = true});
  if (specification.activation == Activation::gelu) {
    specification.activation = Activation::gelu_tanh;  // what the first files meant by gelu
  }
  read_rotary(fields, {}, specification);
  return specification;
}

CausalSpecification read_gemma2(const base::JsonValue& fields) {
  auto specification = read_gemma_like(fields, gemma2_defaults);
  read_second_generation(fields, specification);
  read_rotary(fields, {}, specification);
  set_windows(fields, {.pattern = 2}, specification);
  specification.attention_softcap = cap(fields["attn_logit_softcapping"], 50);
  specification.logits_softcap = cap(fields["final_logit_softcapping"], 30);
  return specification;
}

CausalSpecification read_gemma3_text(const base::JsonValue& fields) {
  auto defaults = gemma2_defaults;
  defaults.vocabulary = 262208;
  defaults.positions = 131072;
  auto specification = read_gemma_like(fields, defaults);
  read_second_generation(fields, specification);
  set_windows(fields, {.pattern = fields["sliding_window_pattern"].size_or(6)}, specification);
  read_two_rotaries(fields, {fields["rope_theta"].positive_or(1e6), fields["rope_local_base_freq"].positive_or(10000)},
                    specification);
  specification.query_key_norm = QueryKeyNorm::per_head;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.logits_softcap = cap(fields["final_logit_softcapping"], 0);
  return specification;
}

CausalSpecification read_gemma3(const base::JsonValue& fields) {
  refuse_variants(fields);
  const auto text = fields["text_config"];
  text.refuse_if(!text, "is missing", "it describes the part that reads");
  auto specification = read_gemma3_text(text);
  specification.tied_head = fields["tie_word_embeddings"].flag_or(true);
  specification.names.prefixes = {"model.language_model.", "language_model.model."};
  specification.names.heads = {"lm_head", "language_model.lm_head"};
  specification.names.harmless_beginnings = {"model.vision_tower.", "model.multi_modal_projector.", "vision_tower.",
                                             "multi_modal_projector."};
  return specification;
}

constexpr CausalFamily llama_rows[] = {{"llama", read_llama, 2},
                                       {"mistral", read_mistral, 2},
                                       {"mixtral", read_mixtral, 2},
                                       {"qwen2", read_qwen2, std::nullopt},
                                       {"qwen3", read_qwen3, std::nullopt},
                                       {"phi3", read_phi3, 32000},
                                       {"olmo2", read_olmo2, 50279},
                                       {"starcoder2", read_starcoder2, 50256},
                                       {"stablelm", read_stablelm, 0},
                                       {"gemma", read_gemma, 1},
                                       {"gemma2", read_gemma2, 1},
                                       {"gemma3_text", read_gemma3_text, 1},
                                       {"gemma3", read_gemma3, std::nullopt},
                                       {"cohere2", read_cohere2, 255001},
                                       {"glm4", read_glm4, std::nullopt},
                                       {"gpt_oss", read_gpt_oss, std::nullopt},
                                       {"granite", read_granite, 2},
                                       {"olmo3", read_olmo3, 50279},
                                       {"qwen3_moe", read_qwen3_moe, std::nullopt},
                                       {"smollm3", read_smollm3, 128001}};

}  // namespace

std::span<const CausalFamily> llama_families() { return llama_rows; }

}  // namespace stereosweep::model::families
