#include "model/CausalSpecification.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/Text.hpp"
#include "model/ConfigFields.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::model {
namespace {

struct CausalFamily {
  std::string_view model_type;
  CausalSpecification (*read)(const ConfigFields&);
};

constexpr CausalFamily causal_families[] = {
    {"gpt2", families::read_gpt2},
    {"openai-gpt", families::read_openai_gpt},
    {"gpt_bigcode", families::read_gpt_bigcode},
    {"gpt_neox", families::read_gpt_neox},
    {"gptj", families::read_gptj},
    {"falcon", families::read_falcon},
    {"opt", families::read_opt},
    {"llama", families::read_llama},
    {"mistral", families::read_mistral},
    {"mixtral", families::read_mixtral},
    {"qwen2", families::read_qwen2},
    {"qwen3", families::read_qwen3},
    {"phi3", families::read_phi3},
    {"olmo2", families::read_olmo2},
    {"starcoder2", families::read_starcoder2},
    {"stablelm", families::read_stablelm},
    {"gemma", families::read_gemma},
    {"gemma2", families::read_gemma2},
    {"gemma3_text", families::read_gemma3_text},
    {"gemma3", families::read_gemma3},
};
constexpr std::string_view masked_families[] = {"bert", "roberta", "xlm-roberta", "camembert"};

// The causal family; null for a masked one. Refuses all others.
const CausalFamily* find_family(const ConfigFields& fields) {
  const auto type = fields.text("model_type", "");
  const auto* found = std::find_if(std::begin(causal_families), std::end(causal_families),
                                   [&](const CausalFamily& family) { return family.model_type == type; });
  if (found != std::end(causal_families)) {
    return found;
  }
  if (std::find(std::begin(masked_families), std::end(masked_families), type) != std::end(masked_families)) {
    return nullptr;
  }
  std::vector<std::string> names(std::begin(masked_families), std::end(masked_families));
  for (const auto& family : causal_families) {
    names.emplace_back(family.model_type);
  }
  fields.refuse("model_type", type.empty() ? "is missing" : base::json_quote(type) + " is not supported",
                base::join(names, ", ") + " are");
}

// Families that know no layer_types may still be given some: they must say what is done anyway.
void check_layer_types(const ConfigFields& fields, const CausalSpecification& specification) {
  const auto types = fields.texts("layer_types");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string_view done = i >= specification.layers.size() || specification.layers[i].window == 0
                                      ? "full_attention"
                                      : "sliding_attention";
    if (types.size() != specification.layers.size() || types[i] != done) {
      fields.refuse("layer_types",
                    base::json_quote(types[i]) + " for layer " + std::to_string(i) + " of " +
                        std::to_string(specification.layers.size()) + " is not supported",
                    "the layers of this family are alike, here " + std::string(done));
    }
  }
}

}  // namespace

CausalSpecification read_causal_specification(const base::FileSet& files) {
  const ConfigFields fields(files);
  const auto* family = find_family(fields);
  if (family == nullptr) {
    fields.refuse("model_type", base::json_quote(fields.text("model_type", "")) + " is a masked model",
                  "a causal one is needed");
  }
  auto specification = family->read(fields);
  check_layer_types(fields, specification);
  specification.family = family->model_type;
  return specification;
}

bool is_causal(const base::FileSet& files) { return find_family(ConfigFields(files)) != nullptr; }

}  // namespace stereosweep::model
