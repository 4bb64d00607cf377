// EuroBERT: LLaMA that sees both sides. Root-mean-square norms, rotary positions, gates, grouped keys; the head is one
// matrix.
// (source: transformers, modeling_eurobert.py, configuration_eurobert.py)
#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults eurobert_defaults = {.vocabulary = 128256, .positions = 8192, .activation = "silu"};

// All layers turn alike and see everything.
void set_rotary(const ConfigFields& fields, MaskedSpecification& specification) {
  CausalSpecification sizes;
  sizes.head_width = specification.head_width();
  sizes.max_tokens = specification.positions;
  read_rotary(fields, {}, sizes);
  specification.positions = sizes.max_tokens;
  specification.rotaries = sizes.rotaries;
  specification.layers.assign(static_cast<std::size_t>(specification.num_layers), LayerKind{});
}

MaskedSpecification read_eurobert(const ConfigFields& fields) {
  auto specification = read_encoder(fields, eurobert_defaults, "layers.");
  const auto width = fields.size("head_dim", specification.head_width());
  fields.refuse_if(width != specification.head_width(), "head_dim", std::to_string(width) + " is not supported",
                   "hidden_size / num_attention_heads is");
  const auto key_heads = fields.size("num_key_value_heads", specification.num_heads);
  fields.refuse_if(specification.num_heads % key_heads != 0, "num_key_value_heads", std::to_string(key_heads),
                   "it does not divide the " + std::to_string(specification.num_heads) + " attention heads");
  specification.num_key_heads = key_heads;
  set_rotary(fields, specification);
  specification.tied_decoder = fields.is_on("tie_word_embeddings");
  specification.norm = NormPlace::before;
  specification.norm_kind = NormKind::rms;
  specification.layer_norm_epsilon = fields.positive("rms_norm_eps", 1e-5);
  specification.norm_bias = false;
  specification.attention_bias = fields.is_on("attention_bias");
  specification.inner_bias = fields.is_on("mlp_bias");
  specification.decoder_bias = specification.inner_bias;
  auto& names = specification.names;
  names.body = "model.";
  names.words = "embed_tokens";
  names.positions = "";
  names.embedding_norm = "";
  names.query = "self_attn.q_proj";
  names.key = "self_attn.k_proj";
  names.value = "self_attn.v_proj";
  names.attention_output = "self_attn.o_proj";
  names.attention_norm = "input_layernorm";
  names.inner = "mlp.gate_proj";
  names.up = "mlp.up_proj";
  names.outer = "mlp.down_proj";
  names.output_norm = "post_attention_layernorm";
  names.final_norm = "norm";
  names.heads = {{"lm_head.", "", "", "lm_head", "lm_head.bias"}};
  return specification;
}

}  // namespace

MaskedFamily eurobert_family() { return {"eurobert", read_eurobert}; }

}  // namespace stereosweep::model::families
