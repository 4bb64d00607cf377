// GPT-J: neighbouring numbers of a head turn together, one norm serves attention and feed-forward layer, and the head
// has a bias.
// (source: transformers, modeling_gptj.py)

#include "model/families/Common.hpp"
#include "model/families/Families.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

const Sizes gptj_sizes = {{{"vocab_size"}, 50400},
                          {{"n_embd", "hidden_size"}, 4096},
                          {{"n_layer", "num_hidden_layers"}, 28},
                          {{"n_head", "num_attention_heads"}, 16},
                          {{"n_positions", "max_position_embeddings"}, 2048}};

CausalNames gptj_names() {
  CausalNames names;
  names.prefixes = {"transformer."};
  names.words = "wte";
  names.layers = "h.";
  names.final_norm = "ln_f";
  names.head_bias = true;
  names.attention_norm = "ln_1";
  names.feed_forward_norm = "";
  names.query_key_value = {"attn.q_proj", "attn.k_proj", "attn.v_proj"};
  names.attention_output = "attn.out_proj";
  names.inner = {"mlp.fc_in"};
  names.outer = "mlp.fc_out";
  names.feed_forward_bias = true;
  names.harmless_endings = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions"};
  return names;
}

CausalSpecification read_gptj(const ConfigFields& fields) {
  auto specification = read_sizes(fields, gptj_sizes);
  set_head_width(fields, gptj_sizes, specification);
  specification.inner = fields.size("n_inner", 4 * specification.hidden);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_epsilon", 1e-5);
  specification.activation = read_activation(fields, "activation_function", "gelu_new");
  specification.residual = Residual::parallel;
  specification.tied_head = fields.is_on("tie_word_embeddings");
  specification.names = gptj_names();
  specification.position = PositionKind::rotary;
  specification.rotaries = {read_plain_rotary(fields, "rotary_dim", fields.size("rotary_dim", 64), specification)};
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  return specification;
}

}  // namespace

const CausalFamily gptj{"gptj", read_gptj, 50256};

}  // namespace stereosweep::model::families
