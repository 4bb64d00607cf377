#include "model/families/Families.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/Text.hpp"

namespace stereosweep::model {
namespace {

constexpr const families::CausalFamily* causal_families[] = {
    &families::gpt2,     &families::openai_gpt, &families::gpt_bigcode, &families::gpt_neox,    &families::gptj,
    &families::falcon,   &families::opt,        &families::llama,       &families::mistral,     &families::mixtral,
    &families::qwen2,    &families::qwen3,      &families::phi3,        &families::olmo2,       &families::starcoder2,
    &families::stablelm, &families::gemma,      &families::gemma2,      &families::gemma3_text, &families::gemma3};
constexpr const families::MaskedFamily* masked_families[] = {&families::bert, &families::roberta,
                                                             &families::xlm_roberta, &families::camembert};

// Null where the type is none of these.
template <class Family, std::size_t count>
const Family* find(const Family* const (&table)[count], std::string_view type) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const Family* family) { return family->model_type == type; });
  return found == std::end(table) ? nullptr : *found;
}

// The causal family; null for a masked one. Refuses all others.
const families::CausalFamily* find_family(const ConfigFields& fields) {
  const auto type = fields.text("model_type", "");
  const auto* causal = find(causal_families, type);
  if (causal != nullptr || find(masked_families, type) != nullptr) {
    return causal;
  }
  std::vector<std::string> names;
  for (const auto* family : masked_families) {
    names.emplace_back(family->model_type);
  }
  for (const auto* family : causal_families) {
    names.emplace_back(family->model_type);
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

MaskedSpecification read_masked_specification(const base::FileSet& files) {
  const ConfigFields fields(files);
  if (find_family(fields) != nullptr) {
    fields.refuse("model_type", base::json_quote(fields.text("model_type", "")) + " is a causal model",
                  "a masked one is needed");
  }
  return find(masked_families, fields.text("model_type", ""))->read(fields);
}

bool is_causal(const base::FileSet& files) { return find_family(ConfigFields(files)) != nullptr; }

std::optional<query::TokenId> usual_end_token(std::string_view model_type) {
  const auto* family = find(causal_families, model_type);
  return family == nullptr ? std::nullopt : family->end_token;
}

}  // namespace stereosweep::model
