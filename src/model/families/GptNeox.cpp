// GPT-NeoX (Pythia): queries, keys and values of a head side by side, a part of each head turns, and attention and
// feed-forward layer read the same input.
// (source: transformers, modeling_gpt_neox.py)
#include "model/families/Common.hpp"
#include "model/families/Families.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes gpt_neox_sizes = {{{"vocab_size"}, 50432},
                              {{"hidden_size"}, 6144},
                              {{"num_hidden_layers"}, 44},
                              {{"num_attention_heads"}, 64},
                              {{"max_position_embeddings"}, 2048}};

CausalNames neox_names() {
  CausalNames names;
  names.prefixes = {"gpt_neox."};
  names.words = "embed_in";
  names.final_norm = "final_layer_norm";
  names.heads = {"embed_out", "lm_head"};
  names.packing = QueryKeyValuePacking::by_key_head;
  names.query_key_value = {"attention.query_key_value"};
  names.attention_output = "attention.dense";
  names.inner = {"mlp.dense_h_to_4h"};
  names.outer = "mlp.dense_4h_to_h";
  names.feed_forward_bias = true;
  names.harmless_endings = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"};
  return names;
}

CausalSpecification read_gpt_neox(const ConfigFields& fields) {
  auto specification = read_sizes(fields, gpt_neox_sizes);
  set_head_width(fields, gpt_neox_sizes, specification);
  specification.inner = fields.size("intermediate_size", 24576);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_eps", 1e-5);
  specification.activation = read_activation(fields, "hidden_act", "gelu");
  specification.residual =
      fields.is_on("use_parallel_residual", ConfigFields::Flag::on) ? Residual::parallel : Residual::sequential;
  specification.tied_head = fields.is_on("tie_word_embeddings");
  specification.names = neox_names();
  specification.names.query_key_value_bias = fields.is_on("attention_bias", ConfigFields::Flag::on);
  specification.names.attention_output_bias = specification.names.query_key_value_bias;
  read_rotary(
      fields,
      {.part = 0.25, .partial = PartialRotary::supported, .theta_key = "rotary_emb_base", .part_key = "rotary_pct"},
      specification);
  return specification;
}

}  // namespace

const CausalFamily gpt_neox{"gpt_neox", read_gpt_neox, 2};

}  // namespace stereosweep::model::families
