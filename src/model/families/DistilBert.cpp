// DistilBERT: BERT without token types, under names of its own.
// (source: transformers, modeling_distilbert.py)
#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults distilbert_defaults = {.layers = 6,
                                                 .hidden_key = "dim",
                                                 .inner_key = "hidden_dim",
                                                 .layers_key = "n_layers",
                                                 .heads_key = "n_heads",
                                                 .activation_key = "activation"};

MaskedSpecification read_distilbert(const ConfigFields& fields) {
  auto specification = read_encoder(fields, distilbert_defaults, "transformer.layer.");
  specification.layer_norm_epsilon = 1e-12;
  auto& names = specification.names;
  names.body = "distilbert.";
  names.query = "attention.q_lin";
  names.key = "attention.k_lin";
  names.value = "attention.v_lin";
  names.attention_output = "attention.out_lin";
  names.attention_norm = "sa_layer_norm";
  names.inner = "ffn.lin1";
  names.outer = "ffn.lin2";
  names.output_norm = "output_layer_norm";
  names.heads = {{"vocab_", "vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"}};
  return specification;
}

constexpr MaskedFamily distilbert_rows[] = {{"distilbert", read_distilbert}};

}  // namespace

std::span<const MaskedFamily> distilbert_families() { return distilbert_rows; }

}  // namespace stereosweep::model::families
