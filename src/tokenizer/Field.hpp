// One value of a tokenizer's JSON file with its place, so that every refusal names file and field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/Json.hpp"

namespace stereosweep::tokenizer {

/// A view: file name and document outlive it.
class Field {
 public:
  Field(const base::Json& value, const std::string& file, std::string path = "")
      : value_(&value), file_(&file), path_(std::move(path)) {}

  /// Throws InputError "file:field: problem (why)".
  [[noreturn]] void refuse(std::string_view problem, std::string_view why) const;
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
  [[noreturn]] void refuse_type(std::string_view supported) const;
  const base::Json& object() const;

 private:
  const base::Json* value_;
  const std::string* file_;
  std::string path_;
};

}  // namespace stereosweep::tokenizer
