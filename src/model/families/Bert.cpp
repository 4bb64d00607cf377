// BERT, and RoBERTa with those that are stored as it is (XLM-RoBERTa, CamemBERT).
// (source: transformers, modeling_bert.py and modeling_roberta.py)
#include <string>

#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

MaskedSpecification read_bert_like(const ConfigFields& fields, std::int64_t vocabulary) {
  const auto kind = fields.text("position_embedding_type", "absolute");
  fields.refuse_if(kind != "absolute", "position_embedding_type", "\"" + kind + "\" is not supported",
                   "absolute positions are");
  auto specification = read_encoder(fields, {.vocabulary = vocabulary}, "encoder.layer.");
  specification.token_types = fields.size("type_vocab_size", 2);
  specification.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-12);
  return specification;
}

MaskedSpecification read_bert(const ConfigFields& fields) { return read_bert_like(fields, 30522); }

// The head has a GELU of its own.
MaskedSpecification read_roberta(const ConfigFields& fields) {
  auto specification = read_bert_like(fields, 50265);
  specification.head_activation = Activation::gelu;
  specification.first_position = fields.size("pad_token_id", 1, 0) + 1;
  specification.skips_padding = true;
  specification.names.body = "roberta.";
  specification.names.heads = {{"lm_head.", "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"}};
  fields.refuse_if(specification.max_tokens() < 1, "max_position_embeddings", std::to_string(specification.positions),
                   "positions begin at pad_token_id + 1 = " + std::to_string(specification.first_position));
  return specification;
}

constexpr MaskedFamily bert_rows[] = {
    {"bert", read_bert}, {"roberta", read_roberta}, {"xlm-roberta", read_roberta}, {"camembert", read_roberta}};

}  // namespace

std::span<const MaskedFamily> bert_families() { return bert_rows; }

}  // namespace stereosweep::model::families
