// ELECTRA's generator: BERT with narrow word embeddings where embedding_size says so, and a head of its own. Its
// discriminator, which tells replaced words, has no such head: its vectors are what it is good for.
// (source: transformers, modeling_electra.py)
#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults electra_defaults = {.hidden = 256, .inner = 1024, .heads = 4};

MaskedSpecification read_electra(const ConfigFields& fields) {
  auto specification = read_encoder(fields, electra_defaults, "encoder.layer.");
  specification.token_types = fields.size("type_vocab_size", 2);
  specification.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-12);
  specification.head_activation = Activation::gelu;
  auto& names = specification.names;
  const auto width = fields.size("embedding_size", 128);
  if (width != specification.hidden) {
    specification.embedding = width;
    names.embedding_projection = "embeddings_project";
  }
  names.body = "electra.";
  names.heads = {{"generator_", "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head",
                  "generator_lm_head.bias"}};
  names.harmless = {"discriminator_predictions."};
  return specification;
}

}  // namespace

MaskedFamily electra_family() { return {"electra", read_electra}; }

}  // namespace stereosweep::model::families
