#include "tokenizer/Field.hpp"

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

void Field::refuse(std::string_view problem, std::string_view why) const {
  // A key of the file may stand in the path, and be as long as it likes.
  base::refuse(base::Place{*file_, 0, base::excerpt(path_, 300)}.text() + ": " + std::string(problem), why);
}

void Field::refuse_if(bool is_wrong, std::string_view problem, std::string_view why) const {
  if (is_wrong) {
    refuse(problem, why);
  }
}

const base::Json& Field::of_type(bool (base::Json::*is_wanted)() const noexcept, std::string_view needed) const {
  if (!(value_->*is_wanted)()) {
    refuse(std::string("is a ") + value_->type_name(), std::string(needed) + " is needed");
  }
  return *value_;
}

const base::Json& Field::object() const { return of_type(&base::Json::is_object, "an object"); }
const base::Json& Field::list() const { return of_type(&base::Json::is_array, "a list"); }

std::optional<Field> Field::find(const std::string& key) const {
  const auto it = object().find(key);
  if (it == value_->end() || it->is_null()) {
    return std::nullopt;
  }
  return Field(*it, *file_, path_.empty() ? key : path_ + "." + key);
}

Field Field::at(const std::string& key) const {
  if (auto found = find(key)) {
    return *found;
  }
  refuse("\"" + key + "\" is missing", "it is needed here");
}

std::string Field::text() const { return of_type(&base::Json::is_string, "a text").get<std::string>(); }

char32_t Field::character() const {
  const auto value = text();
  refuse_if(value.empty() || count_characters(value) != 1, base::json_quote(value), "one character is needed");
  std::size_t position = 0;
  return next_character(value, position);
}

bool Field::flag() const { return of_type(&base::Json::is_boolean, "true or false").get<bool>(); }

std::size_t Field::number() const {
  if (!value_->is_number_integer() || *value_ < 0) {
    refuse(value_->is_number() ? value_->dump() : std::string("is a ") + value_->type_name(),
           "a whole number from 0 on is needed");
  }
  return value_->get<std::size_t>();
}

std::vector<Field> Field::items() const {
  std::vector<Field> all;
  for (std::size_t i = 0; i < list().size(); ++i) {
    all.emplace_back((*value_)[i], *file_, path_ + "[" + std::to_string(i) + "]");
  }
  return all;
}

std::string Field::text_or(const std::string& key, std::string_view otherwise) const {
  const auto found = find(key);
  return found ? found->text() : std::string(otherwise);
}

bool Field::flag_or(const std::string& key, bool otherwise) const {
  const auto found = find(key);
  return found ? found->flag() : otherwise;
}

void Field::refuse_type(const std::vector<std::string>& supported) const {
  const auto found = find("type");
  if (!found) {
    refuse("\"type\" is missing", "it names the component");
  }
  found->refuse("component " + base::json_quote(found->text()) + " is not supported",
                "supported here: " + base::join(supported, ", "));
}

}  // namespace stereosweep::tokenizer
