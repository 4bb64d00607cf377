#include "base/text/JsonFields.hpp"

#include <cmath>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {

JsonFields::JsonFields(const Json& object, const std::string& what) : object_(object) {
  refuse_if(!object.is_object(), what + " is no object", "found " + std::string(object.type_name()));
}

const Json* JsonFields::find(const std::string& name) {
  known_.push_back(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

const Json& JsonFields::need(const std::string& name) {
  const auto* found = find(name);
  refuse_if(found == nullptr, "field \"" + name + "\" is missing", "this kind needs it");
  return *found;
}

void JsonFields::refuse_unknown() const {
  for (const auto& [name, value] : object_.items()) {
    refuse_if(!base::contains(known_, name), "unknown field " + json_quote(name),
              "a misspelt field would be ignored silently", did_you_mean(name, known_));
  }
}

std::string json_text(const Json& value, const std::string& name) {
  refuse_if(!value.is_string(), "field \"" + name + "\" is no string", "found " + std::string(value.type_name()));
  return value.get<std::string>();
}

bool json_boolean(const Json& value, const std::string& name) {
  refuse_if(!value.is_boolean(), "field \"" + name + "\" is neither true nor false", "found " + value.dump());
  return value.get<bool>();
}

double json_number(const Json& value, const std::string& name) {
  refuse_if(!value.is_number() || !std::isfinite(value.get<double>()), "field \"" + name + "\" is no number",
            "found " + std::string(value.type_name()));
  return value.get<double>();
}

const Json& json_list(const Json& value, const std::string& name) {
  refuse_if(!value.is_array(), "field \"" + name + "\" is no list", "found " + std::string(value.type_name()));
  return value;
}

std::vector<std::string> json_texts(const Json& value, const std::string& name) {
  return mapped(json_list(value, name), [&](const Json& text) { return json_text(text, name); });
}

}  // namespace stereosweep::base
