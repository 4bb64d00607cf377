// Gemma 1, 2 and 3: norms that multiply by 1 + weight, scaled embeddings, and from 2 on norms on both sides of each
// part and layers with windows between those without. Of the Gemma 3 that sees, the part that reads.
// (source: transformers, modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py)
#include <cmath>
#include <optional>

#include "model/families/Common.hpp"
#include "model/families/Families.hpp"
#include "model/families/Llama.hpp"
#include "model/families/Rope.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_gemma_like(const ConfigFields& fields, const LlamaDefaults& defaults) {
  auto specification = read_llama_like(fields, defaults);
  specification.norm = NormKind::rms_gemma;
  specification.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(specification.hidden)));
  set_attention_bias(fields, specification);
  return specification;
}

// What Gemma 2 added: four norms a layer, scores divided by a number of their own, capped logits.
void read_second_generation(const ConfigFields& fields, CausalSpecification& specification) {
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "pre_feedforward_layernorm";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
  specification.attention_scale = inverse_root(fields.number("query_pre_attn_scalar", 256));
}

float cap(std::optional<double> number) { return static_cast<float>(number.value_or(0)); }

// Every `pattern`-th layer sees all tokens, the others a window; layer_types says it layer by layer.
void set_windows(const ConfigFields& fields, std::int64_t pattern, CausalSpecification& specification) {
  const auto window = fields.size_or_none("sliding_window", 4096);
  if (fields.find("layer_types") != nullptr) {
    set_layer_types(fields, window, specification);
    return;
  }
  for (std::size_t i = 0; i < specification.layers.size(); ++i) {
    const bool slides = (static_cast<std::int64_t>(i) + 1) % pattern != 0;
    if (slides && !window) {
      fields.refuse("sliding_window", "null", "some layers of this family have a window");
    }
    specification.layers[i].window = slides ? *window : 0;
  }
}

// Layers with a window turn by another angle than those without.
void read_two_rotaries(const ConfigFields& fields, CausalSpecification& specification) {
  const auto nested = fields.section("rope_parameters");
  const auto whole = nested ? nested->section("full_attention") : std::nullopt;
  const auto window = nested ? nested->section("sliding_attention") : std::nullopt;
  const auto scaling = fields.section("rope_scaling");
  if (scaling && scaling->find("rope_type") == nullptr && scaling->find("type") != nullptr) {
    scaling->refuse("type", "is not supported", "in this family transformers turns plainly then: rope_type says it");
  }
  const auto theta = fields.number("rope_theta", 1e6);
  specification.position = PositionKind::rotary;
  specification.rotaries = {
      read_rotary_object(fields, scaling ? scaling : whole,
                         scaling && whole ? whole->number("rope_theta", theta) : theta, {}, specification),
      read_rotary_object(fields, window, fields.number("rope_local_base_freq", 10000), {}, specification)};
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 1 : 0;
  }
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
                                       .tied = ConfigFields::Flag::on};

CausalSpecification read_gemma(const ConfigFields& fields) {
  auto specification = read_gemma_like(fields, {.vocabulary = 256000,
                                                .hidden = 3072,
                                                .inner = 24576,
                                                .layers = 28,
                                                .heads = 16,
                                                .key_heads = 16,
                                                .head_width = 256,
                                                .positions = 8192,
                                                .activation = "gelu_pytorch_tanh",
                                                .tied = ConfigFields::Flag::on});
  if (specification.activation == Activation::gelu) {
    specification.activation = Activation::gelu_tanh;  // what the first files meant by gelu
  }
  read_rotary(fields, {}, specification);
  return specification;
}

CausalSpecification read_gemma2(const ConfigFields& fields) {
  auto specification = read_gemma_like(fields, gemma2_defaults);
  read_second_generation(fields, specification);
  read_rotary(fields, {}, specification);
  set_windows(fields, 2, specification);
  specification.attention_softcap = cap(fields.number_or_none("attn_logit_softcapping", 50));
  specification.logits_softcap = cap(fields.number_or_none("final_logit_softcapping", 30));
  return specification;
}

CausalSpecification read_gemma3_text(const ConfigFields& fields) {
  auto defaults = gemma2_defaults;
  defaults.vocabulary = 262208;
  defaults.positions = 131072;
  auto specification = read_gemma_like(fields, defaults);
  read_second_generation(fields, specification);
  set_windows(fields, fields.size("sliding_window_pattern", 6), specification);
  read_two_rotaries(fields, specification);
  specification.query_key_norm = QueryKeyNorm::per_head;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.logits_softcap = cap(fields.number_or_none("final_logit_softcapping", std::nullopt));
  return specification;
}

CausalSpecification read_gemma3(const ConfigFields& fields) {
  refuse_variants(fields);
  const auto text = fields.section("text_config");
  if (!text) {
    fields.refuse("text_config", "is missing", "it describes the part that reads");
  }
  auto specification = read_gemma3_text(*text);
  specification.tied_head = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  specification.names.prefixes = {"model.language_model.", "language_model.model."};
  specification.names.heads = {"lm_head", "language_model.lm_head"};
  specification.names.harmless_beginnings = {"model.vision_tower.", "model.multi_modal_projector.", "vision_tower.",
                                             "multi_modal_projector."};
  return specification;
}

}  // namespace

const CausalFamily gemma{"gemma", read_gemma, 1};
const CausalFamily gemma2{"gemma2", read_gemma2, 1};
const CausalFamily gemma3_text{"gemma3_text", read_gemma3_text, 1};
const CausalFamily gemma3{"gemma3", read_gemma3, std::nullopt};

}  // namespace stereosweep::model::families
