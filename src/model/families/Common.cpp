#include "model/families/Common.hpp"

#include <algorithm>
#include <cmath>

#include "base/text/Text.hpp"
#include "model/checkpoint/quantized/Quantized.hpp"

namespace stereosweep::model::families {
namespace {

// A hostile file must not make us allocate billions of them.
constexpr std::int64_t most_layers_or_heads = 4096;
constexpr std::int64_t most_head_width = 65536;

std::int64_t read_count(const base::JsonValue& size, std::int64_t otherwise, std::int64_t most) {
  const auto count = size.size_or(otherwise);
  size.refuse_if(count > most, std::to_string(count), std::to_string(most) + " is the most that is supported");
  return count;
}

void refuse_variants(const base::JsonValue& fields) {
  for (const auto* key : {"add_cross_attention", "is_encoder_decoder"}) {
    fields[key].refuse_if(fields[key].flag_or(false), "true is not supported", "there is no second text to attend to");
  }
  const auto& pruned = fields["pruned_heads"].json();
  fields["pruned_heads"].refuse_if(!pruned.empty(), pruned.dump() + " is not supported",
                                   "all heads of all layers are needed");
  describe_quantization(fields);  // refuses what is not read
}

void set_head_width(const base::JsonValue& fields, const Kin& kin, const Usual& usual, BodySettings& body) {
  body.head_width = read_count(first_of(fields, kin.head_width), usual.head_width, most_head_width);
  if (body.head_width == 0) {
    first_of(fields, kin.heads)
        .refuse_if(body.hidden % body.num_heads != 0, std::to_string(body.num_heads),
                   "it does not divide " + first_of(fields, kin.hidden).path() + " " + std::to_string(body.hidden));
    body.head_width = body.hidden / body.num_heads;
  }
}

void read_body(const base::JsonValue& fields, const Kin& kin, const Usual& usual, BodySettings& body) {
  refuse_variants(fields);
  body.vocabulary = fields["vocab_size"].size_or(usual.vocabulary);
  body.hidden = first_of(fields, kin.hidden).size_or(usual.hidden);
  body.inner = first_of(fields, kin.inner).size_or(usual.inner > 0 ? usual.inner : 4 * body.hidden);
  body.num_heads = read_count(first_of(fields, kin.heads), usual.heads, most_layers_or_heads);
  body.max_tokens = first_of(fields, kin.positions).size_or(usual.positions);
  set_head_width(fields, kin, usual, body);
  const auto key_heads = first_of(fields, kin.key_heads);
  const auto count = size_or_none(key_heads, usual.key_heads);
  set_key_heads(key_heads, count > 0 ? count : body.num_heads, body);
  body.norm = kin.norm;
  body.norm_epsilon = first_of(fields, kin.norm_epsilon).fraction_or(usual.norm_epsilon);
  body.activation = read_activation(first_of(fields, kin.activation), usual.activation);
  body.gated = kin.gated;
  const auto layers = read_count(first_of(fields, kin.layers), usual.layers, most_layers_or_heads);
  body.layers.resize(static_cast<std::size_t>(layers));
}

}  // namespace

CausalSpecification read_family(const base::JsonValue& whole, const CausalFamily& family) {
  const auto fields = family.part == nullptr ? whole : whole[family.part];
  if (family.part != nullptr) {
    refuse_variants(whole);
    fields.refuse_if(!fields, "is missing", "it describes the part that reads");
  }
  for (const auto& [key, usual] : {std::pair("use_bidirectional_attention", false), {"is_causal", true}}) {
    const auto given = fields[key].flag_or(usual);
    fields[key].refuse_if(given != usual, given ? "true is not supported" : "false is not supported",
                          "a causal model attends to the left only");
  }
  CausalSpecification specification;
  specification.family = family.model_type;
  read_body(fields, family.kin, family.usual, specification);
  specification.attention_scale = inverse_root(static_cast<double>(specification.head_width));
  if (family.kin.head_width.empty()) {
    refuse_other_head_width(fields, specification);
  }
  specification.tied_head = whole["tie_word_embeddings"].flag_or(family.usual.tied);
  family.set(fields, specification);
  if (!specification.rotaries.empty()) {
    specification.names.harmless_endings.emplace_back("rotary_emb.inv_freq");  // they are computed
  }
  return specification;
}

MaskedSpecification read_family(const base::JsonValue& fields, const MaskedFamily& family) {
  fields["is_decoder"].refuse_if(fields["is_decoder"].flag_or(false), "true is not supported",
                                 "a masked model attends in both directions");
  MaskedSpecification specification;
  read_body(fields, family.kin, family.usual, specification);
  specification.positions = specification.max_tokens;
  specification.head_activation = specification.activation;
  specification.tied_head = fields["tie_word_embeddings"].flag_or(family.usual.tied);
  family.set(fields, specification);
  return specification;
}

base::JsonValue first_of(const base::JsonValue& fields, std::string_view keys) {
  static const base::Json nothing;
  if (keys.empty()) {
    return {nothing, fields.file()};
  }
  const auto names = base::split(keys, '|');
  const auto found = std::ranges::find_if(names, [&](const auto& key) { return !!fields[key]; });
  return fields[found == names.end() ? names.front() : *found];
}

void set_attention_bias(const base::JsonValue& fields, BodySettings& specification) {
  specification.names.query_key_value_bias = fields["attention_bias"].flag_or(false);
  specification.names.attention_output_bias = specification.names.query_key_value_bias;
}

std::int64_t size_or_none(const base::JsonValue& value, std::int64_t otherwise) {
  return value.size_or(value.says_null() ? 0 : otherwise);
}

float inverse_root(double width) { return static_cast<float>(1 / std::sqrt(width)); }

void refuse_other_head_width(const base::JsonValue& fields, const BodySettings& specification) {
  const auto width = specification.hidden / specification.num_heads;
  const auto given = fields["head_dim"].size_or(width);
  fields["head_dim"].refuse_if(
      given != width, std::to_string(given) + " is not supported",
      "heads of this family are hidden_size / num_attention_heads = " + std::to_string(width) + " wide");
}

void set_key_heads(const base::JsonValue& field, std::int64_t count, BodySettings& specification) {
  field.refuse_if(specification.num_heads % count != 0, std::to_string(count),
                  "it does not divide the " + std::to_string(specification.num_heads) + " attention heads");
  specification.num_key_heads = count;
}

Activation read_activation(const base::JsonValue& given, const char* otherwise) {
  const auto name = given.text_or(otherwise);
  if (name == "gelu" || name == "gelu_python") {
    return Activation::gelu;
  }
  if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh" || name == "gelu_python_tanh") {
    return Activation::gelu_tanh;
  }
  if (name == "relu") {
    return Activation::relu;
  }
  if (name == "silu" || name == "swish") {
    return Activation::silu;
  }
  given.refuse("\"" + name + "\" is not supported",
               "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu, silu and swish are");
}

void set_layer_types(const base::JsonValue& fields, std::int64_t window, BodySettings& specification) {
  const auto listed = fields["layer_types"];
  const auto types = listed.texts();
  listed.refuse_if(types.size() != specification.layers.size(), std::to_string(types.size()) + " entries",
                   "there are " + std::to_string(specification.layers.size()) + " layers");
  for (std::size_t i = 0; i < types.size(); ++i) {
    listed.refuse_if(types[i] != "full_attention" && types[i] != "sliding_attention",
                     "\"" + types[i] + "\" is not supported", "full_attention and sliding_attention are");
    listed.refuse_if(types[i] == "sliding_attention" && window == 0, "sliding_attention without a window",
                     "sliding_window must be set");
    specification.layers[i].window = types[i] == "sliding_attention" ? window : 0;
  }
}

}  // namespace stereosweep::model::families
