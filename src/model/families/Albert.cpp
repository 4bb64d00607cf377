// ALBERT: narrow word embeddings, and layers that share their weights group by group.
// (source: transformers, modeling_albert.py)
#include <string>

#include "model/families/Common.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults albert_defaults = {
    .vocabulary = 30000, .hidden = 4096, .inner = 16384, .heads = 64, .activation = "gelu_new"};

// Each of num_hidden_layers runs all layers of its group, so that there are more hidden states than that.
void share_layers(const ConfigFields& fields, MaskedSpecification& specification) {
  const auto groups = fields.size("num_hidden_groups", 1);
  const auto inner = fields.size("inner_group_num", 1);
  const auto rounds = specification.num_layers;
  constexpr std::int64_t most = 4096;
  fields.refuse_if(groups > rounds, "num_hidden_groups", std::to_string(groups),
                   "there are num_hidden_layers = " + std::to_string(rounds));
  fields.refuse_if(inner > most / rounds, "inner_group_num", std::to_string(inner),
                   "at most " + std::to_string(most) + " layers are supported");
  specification.num_layers = rounds * inner;
  specification.names.layers.clear();
  for (std::int64_t round = 0; round < rounds; ++round) {
    // transformers divides in double precision and cuts
    const auto group = static_cast<std::int64_t>(static_cast<double>(round) /
                                                 (static_cast<double>(rounds) / static_cast<double>(groups)));
    for (std::int64_t layer = 0; layer < inner; ++layer) {
      specification.names.layers.push_back("encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." +
                                           std::to_string(layer) + ".");
    }
  }
}

MaskedSpecification read_albert(const ConfigFields& fields) {
  auto specification = read_encoder(fields, albert_defaults, "");
  share_layers(fields, specification);
  specification.embedding = fields.size("embedding_size", 128);
  specification.token_types = fields.size("type_vocab_size", 2);
  specification.layer_norm_epsilon = fields.positive("layer_norm_eps", 1e-12);
  auto& names = specification.names;
  names.body = "albert.";
  names.embedding_projection = "encoder.embedding_hidden_mapping_in";
  names.query = "attention.query";
  names.key = "attention.key";
  names.value = "attention.value";
  names.attention_output = "attention.dense";
  names.attention_norm = "attention.LayerNorm";
  names.inner = "ffn";
  names.outer = "ffn_output";
  names.output_norm = "full_layer_layer_norm";
  names.heads = {
      {"predictions.", "predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"}};
  names.harmless = {"sop_classifier."};
  return specification;
}

constexpr MaskedFamily albert_rows[] = {{"albert", read_albert}};

}  // namespace

std::span<const MaskedFamily> albert_families() { return albert_rows; }

}  // namespace stereosweep::model::families
