// GPT-2, its ancestor and GPT-BigCode: learned positions; queries, keys and values in one matrix.
// (source: transformers, modeling_gpt2.py, modeling_openai.py and modeling_gpt_bigcode.py)
#include "model/families/Common.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes gpt2_sizes = {{{"vocab_size"}, 50257},
                          {{"n_embd", "hidden_size"}, 768},
                          {{"n_layer", "num_hidden_layers"}, 12},
                          {{"n_head", "num_attention_heads"}, 12},
                          {{"n_positions", "max_position_embeddings"}, 1024}};
const Sizes openai_sizes = {{{"vocab_size"}, 40478},
                            {{"n_embd", "hidden_size"}, 768},
                            {{"n_layer", "num_hidden_layers"}, 12},
                            {{"n_head", "num_attention_heads"}, 12},
                            {{"n_positions", "max_position_embeddings"}, 512}};

CausalNames conv1d_names() {
  CausalNames names;
  names.prefixes = {"transformer."};
  names.layers = "h.";
  names.attention_norm = "ln_1";
  names.feed_forward_norm = "ln_2";
  names.order = MatrixOrder::in_out;
  names.packing = QueryKeyValuePacking::blocks;
  names.query_key_value = {"attn.c_attn"};
  names.query_key_value_bias = true;
  names.attention_output = "attn.c_proj";
  names.attention_output_bias = true;
  names.inner = {"mlp.c_fc"};
  names.outer = "mlp.c_proj";
  names.feed_forward_bias = true;
  names.harmless_endings = {".attn.bias", ".attn.masked_bias"};
  return names;
}

CausalSpecification read_conv1d(const ConfigFields& fields, const Sizes& sizes) {
  auto specification = read_sizes(fields, sizes);
  set_head_width(fields, sizes, specification);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_epsilon", 1e-5);
  specification.position = PositionKind::learned;
  specification.tied_head = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  specification.names = conv1d_names();
  return specification;
}

CausalSpecification read_gpt2(const ConfigFields& fields) {
  auto specification = read_conv1d(fields, gpt2_sizes);
  specification.inner = fields.size("n_inner", 4 * specification.hidden);
  specification.activation = read_activation(fields, "activation_function", "gelu_new");
  if (!fields.is_on("scale_attn_weights", ConfigFields::Flag::on)) {
    specification.attention_scale = 1;
  }
  specification.scale_by_layer = fields.is_on("scale_attn_by_inverse_layer_idx");
  specification.names.words = "wte";
  specification.names.positions = "wpe";
  specification.names.final_norm = "ln_f";
  return specification;
}

CausalSpecification read_gpt_bigcode(const ConfigFields& fields) {
  auto specification = read_gpt2(fields);
  specification.activation = read_activation(fields, "activation_function", "gelu_pytorch_tanh");
  specification.scale_by_layer = false;
  specification.names.order = MatrixOrder::out_in;
  if (fields.is_on("multi_query", ConfigFields::Flag::on)) {
    specification.num_key_heads = 1;
  } else {
    specification.names.packing = QueryKeyValuePacking::by_key_head;
  }
  return specification;
}

CausalSpecification read_openai_gpt(const ConfigFields& fields) {
  auto specification = read_conv1d(fields, openai_sizes);
  specification.inner = 4 * specification.hidden;
  specification.activation = read_activation(fields, "afn", "gelu");
  if (specification.activation == Activation::gelu) {
    specification.activation = Activation::gelu_tanh;  // what this family has always called gelu
  }
  specification.residual = Residual::after_adding;
  specification.final_norm = false;
  specification.names.words = "tokens_embed";
  specification.names.positions = "positions_embed";
  return specification;
}

}  // namespace

const CausalFamily gpt2{"gpt2", read_gpt2, 50256};
const CausalFamily openai_gpt{"openai-gpt", read_openai_gpt, std::nullopt};
const CausalFamily gpt_bigcode{"gpt_bigcode", read_gpt_bigcode, 50256};

}  // namespace stereosweep::model::families
