// ModernBERT: norms before each part, gates, rotaries, windows in two of three layers.
// (source: transformers, modeling_modernbert.py, configuration_modernbert.py)
#include <string>

#include "model/families/Common.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {
namespace {

constexpr EncoderDefaults modernbert_defaults = {
    .vocabulary = 50368, .inner = 1152, .layers = 22, .positions = 8192, .activation_key = "hidden_activation"};

// layer_types says layer by layer what sees all; else every global_attn_every_n_layers-th does.
void set_reaches(const ConfigFields& fields, MaskedSpecification& specification) {
  const auto reach = fields.size("local_attention", 128) / 2;
  fields.refuse_if(reach == 0, "local_attention", "1", "a window of at least 2 is needed");
  const auto pattern = fields.size("global_attn_every_n_layers", 3);
  const auto types = fields.texts("layer_types");
  fields.refuse_if(!types.empty() && std::ssize(types) != specification.num_layers, "layer_types",
                   std::to_string(types.size()) + " of them",
                   "there are num_hidden_layers = " + std::to_string(specification.num_layers));
  for (std::int64_t layer = 0; layer < specification.num_layers; ++layer) {
    const auto type = !types.empty()         ? types[static_cast<std::size_t>(layer)]
                      : layer % pattern == 0 ? std::string("full_attention")
                                             : std::string("sliding_attention");
    fields.refuse_if(type != "full_attention" && type != "sliding_attention", "layer_types",
                     "\"" + type + "\" is not supported", "full_attention and sliding_attention are");
    const bool slides = type == "sliding_attention";
    specification.layers.push_back({slides ? reach : 0, slides ? 1 : 0});
  }
}

// Layers with a window turn by another angle than those without.
void set_both_rotaries(const ConfigFields& fields, MaskedSpecification& specification) {
  fields.refuse_if(fields.find("rope_scaling") != nullptr, "rope_scaling", "is not supported",
                   "rope_parameters says how each kind of layer turns");
  CausalSpecification sizes;
  sizes.head_width = specification.head_width();
  sizes.max_tokens = specification.positions;
  const auto nested = fields.section("rope_parameters");
  const auto rotary = [&](const char* kind, const char* key, double theta) {
    const auto own = nested ? nested->section(kind) : std::nullopt;
    fields.refuse_if(own && own->text("rope_type", "default") != "default", "rope_parameters",
                     std::string(kind) + " with another rope_type", "default is supported in this family");
    return own ? read_rotary_object(fields, own, fields.number(key, theta), {}, sizes)
               : read_rotary_object(fields, std::nullopt, fields.number(key, theta), {}, sizes);
  };
  specification.rotaries = {rotary("full_attention", "global_rope_theta", 160000),
                            rotary("sliding_attention", "local_rope_theta", 10000)};
}

MaskedSpecification read_modernbert(const ConfigFields& fields) {
  auto specification = read_encoder(fields, modernbert_defaults, "layers.");
  specification.layer_norm_epsilon = fields.positive("norm_eps", 1e-5);
  specification.head_activation = read_activation(fields, "classifier_activation", "gelu");
  specification.norm = NormPlace::before;
  specification.norm_bias = fields.is_on("norm_bias");
  specification.attention_bias = fields.is_on("attention_bias");
  specification.inner_bias = fields.is_on("mlp_bias");
  specification.head_bias = fields.is_on("classifier_bias");
  specification.decoder_bias = fields.is_on("decoder_bias", ConfigFields::Flag::on);
  set_reaches(fields, specification);
  set_both_rotaries(fields, specification);
  auto& names = specification.names;
  names.body = "model.";
  names.words = "embeddings.tok_embeddings";
  names.positions = "";
  names.embedding_norm = "embeddings.norm";
  names.query_key_value = "attn.Wqkv";
  names.attention_output = "attn.Wo";
  names.attention_norm = "attn_norm";
  names.inner = "mlp.Wi";
  names.outer = "mlp.Wo";
  names.output_norm = "mlp_norm";
  names.final_norm = "final_norm";
  names.heads = {{"head.", "head.dense", "head.norm", "decoder", "decoder.bias"}};
  return specification;
}

constexpr MaskedFamily modernbert_rows[] = {{"modernbert", read_modernbert}};

}  // namespace

std::span<const MaskedFamily> modernbert_families() { return modernbert_rows; }

}  // namespace stereosweep::model::families
