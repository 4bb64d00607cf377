// SmolLM3: LLaMA in which every fourth layer does not turn by position.
// (source: transformers, modeling_smollm3.py, configuration_smollm3.py)
#include <string>

#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

// A 1 for each layer that turns, and a 0 for each that does not.
void set_turning_layers(const ConfigFields& fields, CausalSpecification& specification) {
  const auto* listed = fields.find("no_rope_layers");
  const auto interval = static_cast<std::size_t>(fields.size("no_rope_layer_interval", 4));
  const auto count = specification.layers.size();
  fields.refuse_if(listed != nullptr && (!listed->is_array() || listed->size() < count), "no_rope_layers",
                   "is no list of a number for each layer", "there are " + std::to_string(count) + " layers");
  for (std::size_t i = 0; i < count; ++i) {
    const bool turns = listed == nullptr ? (i + 1) % interval != 0 : (*listed)[i] != 0;
    specification.layers[i].rotary = turns ? 0 : -1;
  }
}

CausalSpecification read_smollm3(const ConfigFields& fields) {
  auto specification = read_plain_llama(fields,
                                        {.vocabulary = 128256,
                                         .hidden = 2048,
                                         .layers = 36,
                                         .heads = 16,
                                         .key_heads = 4,
                                         .positions = 32768,
                                         .tied = ConfigFields::Flag::on},
                                        2e6);
  set_turning_layers(fields, specification);
  const auto window =
      fields.is_on("use_sliding_window") ? fields.size_or_none("sliding_window", std::nullopt).value_or(0) : 0;
  if (fields.find("layer_types") != nullptr) {
    set_layer_types(fields, window, specification);
    return specification;
  }
  for (auto& layer : specification.layers) {
    layer.window = layer.rotary < 0 ? window : 0;
  }
  return specification;
}

}  // namespace

CausalFamily smollm3_family() { return {"smollm3", read_smollm3, 128001}; }

}  // namespace stereosweep::model::families
