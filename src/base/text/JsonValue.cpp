#include "base/text/JsonValue.hpp"

#include <algorithm>

#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {

void JsonValue::refuse(std::string_view problem, std::string_view why) const {
  // A key of the file may stand in the path, and be as long as it likes.
  throw InputError(Place{*file_, 0, excerpt(path_, 300)}.text() + ": " + describe(problem, why));
}

void JsonValue::refuse_if(bool is_wrong, std::string_view problem, std::string_view why) const {
  if (is_wrong) {
    refuse(problem, why);
  }
}

void JsonValue::refuse_found(std::string_view needed) const {
  const bool is_plain = value_ != nullptr && value_->is_primitive();
  refuse(value_ == nullptr ? "is missing"
         : is_plain        ? value_->dump(-1, ' ', false, Json::error_handler_t::replace)
                           : std::string("is a") + (value_->is_object() ? "n object" : " list"),
         std::string(needed) + " is needed");
}

const Json& JsonValue::of_kind(bool is_right, std::string_view needed) const {
  if (!is_right) {
    refuse_found(needed);
  }
  return *value_;
}

const Json& JsonValue::json() const {
  static const Json nothing;
  return value_ == nullptr ? nothing : *value_;
}

std::string JsonValue::path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

JsonValue JsonValue::operator[](const std::string& key) const {
  if (!*this) {
    return {nullptr, *file_, path_of(key)};
  }
  const auto found = object().find(key);
  return {found == value_->end() ? nullptr : &*found, *file_, path_of(key)};
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& [key, value] : object().items()) {
    all.emplace_back(key, JsonValue(value, *file_, path_of(key)));
  }
  return all;
}

void JsonValue::refuse_others(std::initializer_list<const char*> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, value] : object().items()) {
    if (!contains(names, name)) {
      const auto place = Place{*file_, 0, excerpt(path_, 300)}.text();
      base::refuse(place + ": unknown field " + json_quote(name), "a misspelt field would be ignored silently",
                   did_you_mean(name, names));
    }
  }
}

std::vector<JsonValue> JsonValue::items() const {
  std::vector<JsonValue> all;
  all.reserve(list().size());
  for (const auto& item : list()) {
    all.emplace_back(item, *file_, path_ + "[" + std::to_string(all.size()) + "]");
  }
  return all;
}

const Json& JsonValue::object() const { return of_kind(json().is_object(), "an object"); }

const Json& JsonValue::list() const { return of_kind(json().is_array(), "a list"); }

std::string JsonValue::text() const { return of_kind(json().is_string(), "a text").get<std::string>(); }

std::vector<std::string> JsonValue::texts() const {
  // Places are made for the one that is none alone: a list may hold a vocabulary.
  return std::ranges::all_of(list(), [](const Json& one) { return one.is_string(); })
             ? json().get<std::vector<std::string>>()
             : mapped(items(), &JsonValue::text);
}

bool JsonValue::flag() const { return of_kind(json().is_boolean(), "true or false").get<bool>(); }

double JsonValue::number() const { return of_kind(json().is_number(), "a number").get<double>(); }

double JsonValue::positive() const {
  const bool fits = json().is_number() && json().get<double>() >= 1e-12 && json().get<double>() <= 1e12;
  return of_kind(fits, "a number from 1e-12 to 1e12").get<double>();
}

double JsonValue::fraction() const {
  const bool fits = json().is_number() && json().get<double>() > 0 && json().get<double>() < 1;
  return of_kind(fits, "a number between 0 and 1").get<double>();
}

JsonDocument read_json(const FileSet& files, const std::string& name) {
  files.at(name);
  return find_json(files, name);
}

JsonDocument find_json(const FileSet& files, const std::string& name) {
  JsonDocument document{files.directory() + "/" + name};
  if (const auto* file = files.find(name)) {
    document.root = parse_json(file->text(), document.file);
    refuse_if(!document.root.is_object(), document.file + ": no JSON object", "its settings are needed");
  }
  return document;
}

}  // namespace stereosweep::base
