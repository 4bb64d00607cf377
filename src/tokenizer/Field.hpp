// One value of a tokenizer's JSON file with its place, so that every refusal names file and field.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/Json.hpp"

namespace stereosweep::tokenizer {

/// A view: file name and document outlive it.
class Field {
 public:
  Field(const base::Json& value, const std::string& file, std::string path = "")
      : value_(&value), file_(&file), path_(std::move(path)) {}

  /// Throws InputError "file:field: problem (why)".
  [[noreturn]] void refuse(std::string_view problem, std::string_view why) const;
  /// The same where `is_wrong`. The words are made in any case.
  void refuse_if(bool is_wrong, std::string_view problem, std::string_view why) const;
  /// A member of this object; nothing where it is left out or null.
  std::optional<Field> find(const std::string& key) const;
  /// A member that must be there and not null.
  Field at(const std::string& key) const;
  std::string text() const;
  /// A text of exactly one character.
  char32_t character() const;
  bool flag() const;
  std::size_t number() const;
  std::vector<Field> items() const;
  const base::Json& json() const { return *value_; }
  const std::string& path() const { return path_; }
  const std::string& file() const { return *file_; }

  std::string text_or(const std::string& key, std::string_view otherwise) const;
  bool flag_or(const std::string& key, bool otherwise) const;
  /// "type"; "" where it is left out.
  std::string type() const { return text_or("type", ""); }
  /// "type \"X\" is not supported".
  [[noreturn]] void refuse_type(const std::vector<std::string>& supported) const;
  const base::Json& object() const;
  const base::Json& list() const;

 private:
  const base::Json& of_type(bool (base::Json::*is_wanted)() const noexcept, std::string_view needed) const;
  const base::Json* value_;
  const std::string* file_;
  std::string path_;
};

/// A component of tokenizer files: how "type" names it, and what reads the rest of its object.
template <typename Component>
struct Kind {
  const char* type;
  Component (*read)(const Field&);
};

/// The component that `field` is. Throws InputError naming it and all kinds if it is none of them.
template <typename Component, std::size_t count>
Component read_kind(const Field& field, const Kind<Component> (&kinds)[count]) {
  std::vector<std::string> supported;
  for (const auto& kind : kinds) {
    if (field.type() == kind.type) {
      return kind.read(field);
    }
    supported.emplace_back(kind.type);
  }
  field.refuse_type(supported);
}

/// All components of the list `key`, one behind the other.
template <typename... Arguments>
std::function<void(Arguments...)> read_steps(const Field& field, const std::string& key,
                                             std::function<void(Arguments...)> (*read)(const Field&)) {
  std::vector<std::function<void(Arguments...)>> steps;
  for (const auto& item : field.at(key).items()) {
    steps.push_back(read(item));
  }
  return [steps](Arguments... arguments) {
    for (const auto& step : steps) {
      step(arguments...);
    }
  };
}

}  // namespace stereosweep::tokenizer
