// OPT: learned positions that begin at row 2, ReLU. OPT-350m, whose embeddings are narrower than its layers, is
// refused. (source: transformers, modeling_opt.py)
#include <string>

#include "model/families/Common.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes opt_sizes = {{{"vocab_size"}, 50272},
                         {{"hidden_size"}, 768},
                         {{"num_hidden_layers"}, 12},
                         {{"num_attention_heads"}, 12},
                         {{"max_position_embeddings"}, 2048}};

CausalNames opt_names() {
  CausalNames names;
  names.prefixes = {"model.decoder.", "decoder."};
  names.positions = "embed_positions";
  names.final_norm = "final_layer_norm";
  names.attention_norm = "self_attn_layer_norm";
  names.feed_forward_norm = "final_layer_norm";
  names.attention_output = "self_attn.out_proj";
  names.inner = {"fc1"};
  names.outer = "fc2";
  return names;
}

CausalSpecification read_opt(const ConfigFields& fields) {
  auto specification = read_sizes(fields, opt_sizes);
  set_head_width(fields, opt_sizes, specification);
  if (const auto width = fields.size("word_embed_proj_dim", specification.hidden); width != specification.hidden) {
    fields.refuse("word_embed_proj_dim", std::to_string(width) + " is not supported",
                  "word embeddings as wide as hidden_size " + std::to_string(specification.hidden) + " are");
  }
  if (!fields.is_on("layer_norm_elementwise_affine", ConfigFields::Flag::on)) {
    fields.refuse("layer_norm_elementwise_affine", "false is not supported", "norms with weights are");
  }
  const bool before = fields.is_on("do_layer_norm_before", ConfigFields::Flag::on);
  specification.inner = fields.size("ffn_dim", 3072);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = 1e-5;
  specification.residual = before ? Residual::sequential : Residual::after_adding;
  specification.final_norm = before && !fields.is_on("_remove_final_layer_norm");
  specification.activation = read_activation(fields, "activation_function", "relu");
  specification.position = PositionKind::learned;
  specification.first_position = 2;
  specification.tied_head = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  specification.names = opt_names();
  const bool biases = fields.is_on("enable_bias", ConfigFields::Flag::on);
  specification.names.query_key_value_bias = biases;
  specification.names.attention_output_bias = biases;
  specification.names.feed_forward_bias = biases;
  return specification;
}

}  // namespace

const CausalFamily opt{"opt", read_opt, 2};

}  // namespace stereosweep::model::families
