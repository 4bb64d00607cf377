// BERT, and RoBERTa with those that are stored as it is (XLM-RoBERTa, CamemBERT).
// (source: transformers, modeling_bert.py and modeling_roberta.py)
#include <string>

#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

MaskedSpecification read_encoder(const ConfigFields& fields, std::int64_t vocabulary) {
  refuse_variants(fields);
  const auto kind = fields.text("position_embedding_type", "absolute");
  fields.refuse_if(kind != "absolute", "position_embedding_type", "\"" + kind + "\" is not supported",
                   "absolute positions are");
  fields.refuse_if(fields.is_on("is_decoder"), "is_decoder", "true is not supported",
                   "a masked model attends in both directions");
  MaskedSpecification specification;
  specification.vocabulary = fields.size("vocab_size", vocabulary);
  specification.hidden = fields.size("hidden_size", 768);
  specification.inner = fields.size("intermediate_size", 3072);
  specification.num_layers = fields.size("num_hidden_layers", 12);
  specification.num_heads = fields.size("num_attention_heads", 12);
  specification.positions = fields.size("max_position_embeddings", 512);
  specification.token_types = fields.size("type_vocab_size", 2);
  specification.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-12);
  specification.activation = read_activation(fields, "hidden_act", "gelu");
  specification.tied_decoder = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  fields.refuse_if(specification.hidden % specification.num_heads != 0, "num_attention_heads",
                   std::to_string(specification.num_heads),
                   "it does not divide hidden_size " + std::to_string(specification.hidden));
  return specification;
}

MaskedSpecification read_bert(const ConfigFields& fields) {
  auto specification = read_encoder(fields, 30522);
  specification.head_activation = specification.activation;
  return specification;
}

// The head has a GELU of its own.
MaskedSpecification read_roberta(const ConfigFields& fields) {
  auto specification = read_encoder(fields, 50265);
  specification.first_position = fields.size("pad_token_id", 1, 0) + 1;
  specification.skips_padding = true;
  specification.names = {"roberta.", "lm_head.", "lm_head.dense", "lm_head.layer_norm"};
  fields.refuse_if(specification.max_tokens() < 1, "max_position_embeddings", std::to_string(specification.positions),
                   "positions begin at pad_token_id + 1 = " + std::to_string(specification.first_position));
  return specification;
}

constexpr MaskedFamily masked_rows[] = {
    {"bert", read_bert}, {"roberta", read_roberta}, {"xlm-roberta", read_roberta}, {"camembert", read_roberta}};

}  // namespace

std::span<const MaskedFamily> masked_families() { return masked_rows; }

}  // namespace stereosweep::model::families
