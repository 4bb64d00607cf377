// Components of tokenizer files: objects whose "type" says what reads the rest of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/Lists.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "base/text/Utf8.hpp"

namespace stereosweep::tokenizer {

/// How "type" names a component, and what reads it.
template <typename Component>
struct Kind {
  const char* type;
  Component (*read)(const base::JsonValue&);
};

/// The component that `field` is. Throws InputError naming it and all kinds if it is none of them.
template <typename Component, std::size_t count>
Component read_kind(const base::JsonValue& field, const Kind<Component> (&kinds)[count]) {
  const auto type = field["type"];
  const auto named = type.text();
  std::vector<std::string> supported;
  for (const auto& kind : kinds) {
    if (named == kind.type) {
      return kind.read(field);
    }
    supported.emplace_back(kind.type);
  }
  type.refuse("component " + base::json_quote(named) + " is not supported",
              "supported here: " + base::join(supported, ", "));
}

/// All components of the list `key`, one behind the other.
template <typename... Arguments>
std::function<void(Arguments...)> read_steps(const base::JsonValue& field, const std::string& key,
                                             std::function<void(Arguments...)> (*read)(const base::JsonValue&)) {
  const auto steps = base::mapped(field[key].items(), read);
  return [steps](Arguments... arguments) {
    for (const auto& step : steps) {
      step(arguments...);
    }
  };
}

/// A text of exactly one character.
inline std::string read_character(const base::JsonValue& field) {
  auto value = field.text();
  field.refuse_if(base::count_characters(value) != 1, base::json_quote(value), "one character is needed");
  return value;
}

}  // namespace stereosweep::tokenizer
