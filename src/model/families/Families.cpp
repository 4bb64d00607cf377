#include "model/families/Families.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "model/families/Common.hpp"

namespace stereosweep::model {
namespace {

// The row of a table; null where it has none.
template <class Family>
const Family* find(std::span<const Family> table, std::string_view type) {
  const auto found = std::ranges::find(table, type, &Family::model_type);
  return found == table.end() ? nullptr : &*found;
}

const families::MaskedFamily* find_masked(std::string_view type) { return find(families::bert_families(), type); }

const families::CausalFamily* find_causal(std::string_view type) {
  const auto* found = find(families::gpt_families(), type);
  return found != nullptr ? found : find(families::llama_families(), type);
}

// The causal family; null for a masked one. Refuses all others.
const families::CausalFamily* find_family(const base::JsonValue& fields) {
  const auto type = fields["model_type"].text_or("");
  const auto* causal = find_causal(type);
  if (causal != nullptr || find_masked(type) != nullptr) {
    return causal;
  }
  std::vector<std::string> names;
  const auto add = [&](const auto& family) { names.emplace_back(family.model_type); };
  std::ranges::for_each(families::bert_families(), add);
  std::ranges::for_each(families::gpt_families(), add);
  std::ranges::for_each(families::llama_families(), add);
  fields["model_type"].refuse(type.empty() ? "is missing" : base::json_quote(type) + " is not supported",
                              base::join(names, ", ") + " are");
}

// Families that know no layer_types may still be given some: they must say what is done anyway.
void check_layer_types(const base::JsonValue& fields, const CausalSpecification& specification) {
  const auto listed = fields["layer_types"];
  const auto types = listed ? listed.texts() : std::vector<std::string>();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string_view done = i >= specification.layers.size() || specification.layers[i].window == 0
                                      ? "full_attention"
                                      : "sliding_attention";
    listed.refuse_if(types.size() != specification.layers.size() || types[i] != done,
                     base::json_quote(types[i]) + " for layer " + std::to_string(i) + " of " +
                         std::to_string(specification.layers.size()) + " is not supported",
                     "the layers of this family are alike, here " + std::string(done));
  }
}

}  // namespace

CausalSpecification read_causal_specification(const base::FileSet& files) {
  const auto config = base::read_json(files, "config.json");
  const auto fields = config.value();
  const auto* family = find_family(fields);
  fields["model_type"].refuse_if(family == nullptr,
                                 base::json_quote(fields["model_type"].text_or("")) + " is a masked model",
                                 "a causal one is needed");
  auto specification = read_family(fields, *family);
  check_layer_types(fields, specification);
  return specification;
}

MaskedSpecification read_masked_specification(const base::FileSet& files) {
  const auto config = base::read_json(files, "config.json");
  const auto fields = config.value();
  fields["model_type"].refuse_if(find_family(fields) != nullptr,
                                 base::json_quote(fields["model_type"].text_or("")) + " is a causal model",
                                 "a masked one is needed");
  return read_family(fields, *find_masked(fields["model_type"].text_or("")));
}

bool is_causal(const base::FileSet& files) {
  return find_family(base::read_json(files, "config.json").value()) != nullptr;
}

std::optional<query::TokenId> usual_end_token(std::string_view model_type) {
  const auto* family = find_causal(model_type);
  return family == nullptr ? std::nullopt : family->end_token;
}

}  // namespace stereosweep::model
