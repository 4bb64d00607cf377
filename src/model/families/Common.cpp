#include "model/families/Common.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/checkpoint/quantized/Quantized.hpp"

namespace stereosweep::model::families {
namespace {

constexpr std::int64_t most_layers_or_heads = 4096;  // a hostile file must not make us allocate billions of them

std::int64_t read_size(const base::JsonValue& fields, const SizeKey& size) {
  return first_of(fields, size.keys).size_or(size.otherwise);
}

std::int64_t read_count(const base::JsonValue& fields, const SizeKey& size) {
  const auto count = read_size(fields, size);
  first_of(fields, size.keys)
      .refuse_if(count > most_layers_or_heads, std::to_string(count),
                 "at most " + std::to_string(most_layers_or_heads) + " are supported");
  return count;
}

}  // namespace

base::JsonValue first_of(const base::JsonValue& fields, std::initializer_list<const char*> keys) {
  const auto* found = std::ranges::find_if(keys, [&](const char* key) { return !fields[key].json().is_null(); });
  return fields[found == keys.end() ? *keys.begin() : *found];
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

MaskedSpecification read_encoder(const base::JsonValue& fields, const EncoderDefaults& defaults,
                                 const std::string& layer_name) {
  refuse_variants(fields);
  fields["is_decoder"].refuse_if(fields["is_decoder"].flag_or(false), "true is not supported",
                                 "a masked model attends in both directions");
  MaskedSpecification specification;
  specification.vocabulary = fields["vocab_size"].size_or(defaults.vocabulary);
  specification.hidden = fields[defaults.hidden_key].size_or(defaults.hidden);
  specification.inner = fields[defaults.inner_key].size_or(defaults.inner);
  specification.num_layers = read_count(fields, {{defaults.layers_key}, defaults.layers});
  specification.num_heads = read_count(fields, {{defaults.heads_key}, defaults.heads});
  specification.num_key_heads = specification.num_heads;
  specification.positions = specification.max_tokens = fields["max_position_embeddings"].size_or(defaults.positions);
  specification.activation = read_activation(fields, defaults.activation_key, defaults.activation);
  specification.head_activation = specification.activation;
  specification.tied_decoder = fields["tie_word_embeddings"].flag_or(true);
  fields[defaults.heads_key].refuse_if(
      specification.hidden % specification.num_heads != 0, std::to_string(specification.num_heads),
      "it does not divide " + std::string(defaults.hidden_key) + " " + std::to_string(specification.hidden));
  specification.head_width = specification.hidden / specification.num_heads;
  for (std::int64_t layer = 0; layer < specification.num_layers; ++layer) {
    specification.names.layers.push_back(layer_name + std::to_string(layer) + ".");
  }
  return specification;
}

CausalSpecification read_sizes(const base::JsonValue& fields, const Sizes& sizes) {
  refuse_variants(fields);
  fields["use_bidirectional_attention"].refuse_if(fields["use_bidirectional_attention"].flag_or(false),
                                                  "true is not supported", "a causal model attends to the left only");
  fields["is_causal"].refuse_if(!fields["is_causal"].flag_or(true), "false is not supported",
                                "a causal model attends to the left only");
  CausalSpecification specification;
  specification.vocabulary = read_size(fields, sizes.vocabulary);
  specification.hidden = read_size(fields, sizes.hidden);
  specification.num_heads = read_count(fields, sizes.heads);
  specification.num_key_heads = specification.num_heads;
  specification.max_tokens = read_size(fields, sizes.positions);
  specification.layers.resize(static_cast<std::size_t>(read_count(fields, sizes.layers)));
  return specification;
}

float inverse_root(double width) { return static_cast<float>(1 / std::sqrt(width)); }

void set_head_width(const base::JsonValue& fields, const Sizes& sizes, CausalSpecification& specification) {
  first_of(fields, sizes.heads.keys)
      .refuse_if(specification.hidden % specification.num_heads != 0, std::to_string(specification.num_heads),
                 "it does not divide " + first_of(fields, sizes.hidden.keys).path() + " " +
                     std::to_string(specification.hidden));
  specification.head_width = specification.hidden / specification.num_heads;
  specification.attention_scale = inverse_root(static_cast<double>(specification.head_width));
  refuse_other_head_width(fields, specification);
}

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

Activation read_activation(const base::JsonValue& fields, const char* key, const char* otherwise) {
  const auto name = fields[key].text_or(otherwise);
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
  fields[key].refuse("\"" + name + "\" is not supported",
                     "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu, silu and swish are");
}

std::vector<float> alibi_slopes(std::int64_t heads) {
  const c10::InferenceMode guard;
  std::vector<float> slopes;
  const auto append = [&](std::int64_t power_of_two, std::int64_t count, std::int64_t step) {
    const auto base = std::exp2(-std::exp2(3 - std::log2(static_cast<double>(power_of_two))));
    const auto some = at::pow(at::full({}, base, at::TensorOptions(at::kFloat)),
                              at::arange(1, 1 + step * count, step, at::TensorOptions(at::kInt)));
    slopes.insert(slopes.end(), some.const_data_ptr<float>(), some.const_data_ptr<float>() + some.numel());
  };
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  append(whole, whole, 1);
  if (whole != heads) {
    append(2 * whole, heads - whole, 2);
  }
  return slopes;
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

void set_window(std::int64_t window, CausalSpecification& specification) {
  for (auto& layer : specification.layers) {
    layer.window = window;
  }
}

}  // namespace stereosweep::model::families
