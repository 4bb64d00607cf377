#include "config/yaml/FieldsSchema.hpp"

#include "base/Lists.hpp"

namespace stereosweep::config {

using base::Json;

Json text_schema() { return {{"type", {"string", "number", "boolean"}}, {"minLength", 1}}; }

Json any_text_schema() { return Json::object({{"type", {"string", "number", "boolean"}}}); }

Json integer_schema(std::int64_t smallest, std::int64_t largest) {
  return {{"type", "integer"}, {"minimum", smallest}, {"maximum", largest}};
}

Json number_schema(double smallest, double largest) {
  return {{"type", "number"}, {"minimum", smallest}, {"maximum", largest}};
}

Json choice_schema(const std::vector<std::string>& names) {
  Json values = names;
  for (const auto& name : names) {
    if (name == "true" || name == "false") {  // what YAML takes for a boolean
      values.push_back(name == "true");
    }
  }
  return Json::object({{"enum", std::move(values)}});
}

Json list_schema(Json entry, Emptiness emptiness) {
  Json schema = {{"type", "array"}, {"items", std::move(entry)}};
  if (emptiness == Emptiness::refused) {
    schema["minItems"] = 1;
  }
  return schema;
}

Json lines_schema(Emptiness emptiness) {
  auto schema = list_schema(text_schema(), emptiness);
  schema["uniqueItems"] = true;
  return schema;
}

Json pair_schema(Json entry) {
  auto schema = list_schema(std::move(entry));
  schema["minItems"] = 2;
  schema["maxItems"] = 2;
  return schema;
}

Json names_schema(Json value) { return {{"type", "object"}, {"additionalProperties", std::move(value)}}; }

Json either_schema(std::vector<Json> forms) { return Json::object({{"anyOf", std::move(forms)}}); }

Json selections_schema() { return names_schema(either_schema({text_schema(), lines_schema()})); }

void FieldsSchema::add(const std::string& name, Json schema, std::string_view about, Json usual) {
  const auto marks = take_marks();
  if (marks.alone) {
    alone_ = schema;
  }
  if (marks.needed) {
    needed_keys_.push_back(name);
  } else if (!usual.is_null()) {
    schema["default"] = std::move(usual);
  }
  if (!about.empty()) {
    schema["description"] = about;
  }
  keys_[name] = std::move(schema);
}

std::vector<std::string> FieldsSchema::key_names() const {
  return base::mapped(keys_.items(), [](const auto& entry) { return std::string(entry.key()); });
}

Json FieldsSchema::take() {
  Json schema = {{"type", "object"}, {"properties", std::move(keys_)}, {"additionalProperties", false}};
  if (!needed_keys_.empty()) {
    schema["required"] = std::move(needed_keys_);
  }
  return alone_.is_null() ? schema : either_schema({std::move(alone_), std::move(schema)});
}

}  // namespace stereosweep::config
