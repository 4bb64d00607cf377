#include "model/families/Common.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/pow.h>
#include <c10/core/InferenceMode.h>

#include <bit>
#include <cmath>

#include "model/checkpoint/quantized/Quantized.hpp"

namespace stereosweep::model::families {
namespace {

constexpr std::int64_t most_layers_or_heads = 4096;  // a hostile file must not make us allocate billions of them

std::int64_t read_size(const ConfigFields& fields, const SizeKey& size) {
  return fields.size(fields.first_of(size.keys), size.otherwise);
}

std::int64_t read_count(const ConfigFields& fields, const SizeKey& size) {
  const auto count = read_size(fields, size);
  fields.refuse_if(count > most_layers_or_heads, fields.first_of(size.keys), std::to_string(count),
                   "at most " + std::to_string(most_layers_or_heads) + " are supported");
  return count;
}

}  // namespace

void refuse_variants(const ConfigFields& fields) {
  for (const auto* key : {"add_cross_attention", "is_encoder_decoder"}) {
    fields.refuse_if(fields.is_on(key), key, "true is not supported", "there is no second text to attend to");
  }
  if (const auto* pruned = fields.find("pruned_heads"); pruned != nullptr && !pruned->empty()) {
    fields.refuse("pruned_heads", pruned->dump() + " is not supported", "all heads of all layers are needed");
  }
  describe_quantization(fields);  // refuses what is not read
}

MaskedSpecification read_encoder(const ConfigFields& fields, const EncoderDefaults& defaults,
                                 const std::string& layer_name) {
  refuse_variants(fields);
  fields.refuse_if(fields.is_on("is_decoder"), "is_decoder", "true is not supported",
                   "a masked model attends in both directions");
  MaskedSpecification specification;
  specification.vocabulary = fields.size("vocab_size", defaults.vocabulary);
  specification.hidden = fields.size(defaults.hidden_key, defaults.hidden);
  specification.inner = fields.size(defaults.inner_key, defaults.inner);
  specification.num_layers = read_count(fields, {{defaults.layers_key}, defaults.layers});
  specification.num_heads = read_count(fields, {{defaults.heads_key}, defaults.heads});
  specification.num_key_heads = specification.num_heads;
  specification.positions = specification.max_tokens = fields.size("max_position_embeddings", defaults.positions);
  specification.activation = read_activation(fields, defaults.activation_key, defaults.activation);
  specification.head_activation = specification.activation;
  specification.tied_decoder = fields.is_on("tie_word_embeddings", ConfigFields::Flag::on);
  fields.refuse_if(
      specification.hidden % specification.num_heads != 0, defaults.heads_key, std::to_string(specification.num_heads),
      "it does not divide " + std::string(defaults.hidden_key) + " " + std::to_string(specification.hidden));
  specification.head_width = specification.hidden / specification.num_heads;
  for (std::int64_t layer = 0; layer < specification.num_layers; ++layer) {
    specification.names.layers.push_back(layer_name + std::to_string(layer) + ".");
  }
  return specification;
}

CausalSpecification read_sizes(const ConfigFields& fields, const Sizes& sizes) {
  refuse_variants(fields);
  fields.refuse_if(fields.is_on("use_bidirectional_attention"), "use_bidirectional_attention", "true is not supported",
                   "a causal model attends to the left only");
  fields.refuse_if(!fields.is_on("is_causal", ConfigFields::Flag::on), "is_causal", "false is not supported",
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

void set_head_width(const ConfigFields& fields, const Sizes& sizes, CausalSpecification& specification) {
  fields.refuse_if(specification.hidden % specification.num_heads != 0, fields.first_of(sizes.heads.keys),
                   std::to_string(specification.num_heads),
                   "it does not divide " + std::string(fields.first_of(sizes.hidden.keys)) + " " +
                       std::to_string(specification.hidden));
  specification.head_width = specification.hidden / specification.num_heads;
  specification.attention_scale = inverse_root(static_cast<double>(specification.head_width));
  refuse_other_head_width(fields, specification);
}

void refuse_other_head_width(const ConfigFields& fields, const BodySettings& specification) {
  const auto width = specification.hidden / specification.num_heads;
  const auto given = fields.size("head_dim", width);
  fields.refuse_if(given != width, "head_dim", std::to_string(given) + " is not supported",
                   "heads of this family are hidden_size / num_attention_heads = " + std::to_string(width) + " wide");
}

void set_key_heads(const ConfigFields& fields, const char* key, std::int64_t count, BodySettings& specification) {
  fields.refuse_if(specification.num_heads % count != 0, key, std::to_string(count),
                   "it does not divide the " + std::to_string(specification.num_heads) + " attention heads");
  specification.num_key_heads = count;
}

Activation read_activation(const ConfigFields& fields, const char* key, const char* otherwise) {
  const auto name = fields.text(key, otherwise);
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
  fields.refuse(key, "\"" + name + "\" is not supported",
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

void set_layer_types(const ConfigFields& fields, std::int64_t window, BodySettings& specification) {
  const auto types = fields.texts("layer_types");
  fields.refuse_if(types.size() != specification.layers.size(), "layer_types",
                   std::to_string(types.size()) + " entries",
                   "there are " + std::to_string(specification.layers.size()) + " layers");
  for (std::size_t i = 0; i < types.size(); ++i) {
    fields.refuse_if(types[i] != "full_attention" && types[i] != "sliding_attention", "layer_types",
                     "\"" + types[i] + "\" is not supported", "full_attention and sliding_attention are");
    fields.refuse_if(types[i] == "sliding_attention" && window == 0, "layer_types",
                     "sliding_attention without a window", "sliding_window must be set");
    specification.layers[i].window = types[i] == "sliding_attention" ? window : 0;
  }
}

void set_window(std::int64_t window, CausalSpecification& specification) {
  for (auto& layer : specification.layers) {
    layer.window = window;
  }
}

}  // namespace stereosweep::model::families
