// BLOOM: alibi behind the scale, a norm of the embeddings, queries, keys and values of a head side by side. No key
// limits its texts; published files say how long those were that it was trained with.
// (source: transformers, modeling_bloom.py, configuration_bloom.py)
#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes bloom_sizes = {{{"vocab_size"}, 250880},
                           {{"n_embed", "hidden_size"}, 64},
                           {{"n_layer", "num_hidden_layers"}, 2},
                           {{"n_head", "num_attention_heads"}, 8},
                           {{"seq_length"}, 2048}};

const CausalNames bloom_names = {.prefixes = {"transformer."},
                                 .words = "word_embeddings",
                                 .embedding_norm = "word_embeddings_layernorm",
                                 .layers = "h.",
                                 .final_norm = "ln_f",
                                 .packing = QueryKeyValuePacking::by_key_head,
                                 .query_key_value = {"self_attention.query_key_value"},
                                 .query_key_value_bias = true,
                                 .attention_output = "self_attention.dense",
                                 .attention_output_bias = true,
                                 .inner = {"mlp.dense_h_to_4h"},
                                 .outer = "mlp.dense_4h_to_h",
                                 .feed_forward_bias = true};

CausalSpecification read_bloom(const ConfigFields& fields) {
  auto specification = read_sizes(fields, bloom_sizes);
  set_head_width(fields, bloom_sizes, specification);
  fields.refuse_if(fields.is_on("apply_residual_connection_post_layernorm"), "apply_residual_connection_post_layernorm",
                   "true is not supported", "no published BLOOM has it");
  fields.refuse_if(fields.is_on("slow_but_exact") && fields.size("pretraining_tp", 1) > 1, "slow_but_exact",
                   "true is not supported", "transformers leaves biases out then");
  specification.inner = 4 * specification.hidden;
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_epsilon", 1e-5);
  specification.activation = Activation::gelu_tanh;
  specification.position = PositionKind::alibi;
  specification.alibi_slopes = alibi_slopes(specification.num_heads);
  specification.alibi_rounding = AlibiRounding::model;
  specification.tied_head = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  specification.names = bloom_names;
  return specification;
}

}  // namespace

CausalFamily bloom_family() { return {"bloom", read_bloom, 2}; }

}  // namespace stereosweep::model::families
