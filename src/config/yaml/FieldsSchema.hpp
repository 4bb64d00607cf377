// Describes keys as JSON Schema (draft 2020-12), for editors and validators: the third reader of a list of keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/Json.hpp"
#include "config/yaml/Fields.hpp"

namespace stereosweep::config {

// Schemas of values.

/// Text of one line: what YAML takes for a number or a boolean is one, too, as for the reader.
base::Json text_schema();
/// Text that may also be empty.
base::Json any_text_schema();
base::Json integer_schema(std::int64_t smallest, std::int64_t largest);
base::Json number_schema(double smallest, double largest);
/// One of the words.
base::Json choice_schema(const std::vector<std::string>& names);
base::Json list_schema(base::Json entry, Emptiness emptiness = Emptiness::refused);
/// A list of texts without repeats.
base::Json lines_schema(Emptiness emptiness = Emptiness::refused);
/// A list of exactly two values.
base::Json pair_schema(base::Json entry);
/// A mapping whose names are free.
base::Json names_schema(base::Json value);
/// One of several forms.
base::Json either_schema(std::vector<base::Json> forms);
/// What `read_selections` reads.
base::Json selections_schema();

/// Collects the schema of the keys that it is shown; their values are the defaults.
class FieldsSchema : public KeyMarks<FieldsSchema> {
 public:
  void line(const std::string& name, const std::string& value, std::string_view about = "") {
    add(name, text_schema(), about, value.empty() ? base::Json() : base::Json(value));
  }
  void text(const std::string& name, const std::string& value, std::string_view about = "") {
    add(name, any_text_schema(), about, value.empty() ? base::Json() : base::Json(value));
  }
  void lines(const std::string& name, const std::vector<std::string>& value, Emptiness emptiness = Emptiness::refused,
             std::string_view about = "") {
    add(name, lines_schema(emptiness), about, value.empty() ? base::Json() : base::Json(value));
  }
  void texts(const std::string& name, const std::vector<std::string>& /*value*/, std::string_view about = "") {
    add(name, list_schema(any_text_schema(), Emptiness::allowed), about);
  }
  void boolean(const std::string& name, bool value, std::string_view about = "") {
    add(name, base::Json::object({{"type", "boolean"}}), about, value);
  }
  void integer(const std::string& name, std::int64_t value, std::int64_t smallest, std::int64_t largest,
               std::string_view about = "") {
    add(name, integer_schema(smallest, largest), about, value);
  }
  void number(const std::string& name, double value, double smallest, double largest, std::string_view about = "") {
    add(name, number_schema(smallest, largest), about, value);
  }
  void seed(const std::string& name, std::uint64_t value, std::string_view about = "") {
    add(name, {{"type", "integer"}, {"minimum", 0}}, about, value);
  }
  template <class Choice>
  void choice(const std::string& name, Choice value, const std::vector<std::string>& names,
              std::string_view about = "") {
    const auto index = static_cast<std::size_t>(value);
    add(name, choice_schema(names), about, index < names.size() ? base::Json(names[index]) : base::Json());
  }
  template <class Choice>
  void choices(const std::string& name, const std::vector<Choice>& /*values*/, const std::vector<std::string>& names,
               std::string_view about = "") {
    auto schema = list_schema(choice_schema(names));
    schema["uniqueItems"] = true;
    add(name, std::move(schema), about);
  }
  template <class Choice>
  void one_or_more(const std::string& name, const std::vector<Choice>& /*values*/,
                   const std::vector<std::string>& names, std::string_view about = "") {
    add(name, either_schema({choice_schema(names), list_schema(choice_schema(names))}), about);
  }
  void path(const std::string& name, const std::string& value, std::string_view about = "") {
    line(name, value, about);
  }
  void labels(const std::string& name, const std::vector<std::string>& /*value*/, std::string_view about = "") {
    add(name, either_schema({choice_schema({"all"}), lines_schema()}), about);
  }
  void selections(const std::string& name, const std::vector<sweep::Selection>& /*value*/,
                  std::string_view about = "") {
    add(name, selections_schema(), about);
  }
  template <class Choice>
  void selections_or(const std::string& name, const std::vector<sweep::Selection>& /*value*/, Choice /*word*/,
                     const std::vector<std::string>& words, std::string_view about = "") {
    add(name, either_schema({choice_schema(words), selections_schema()}), about);
  }
  void range(const std::string& name, double /*low*/, double /*high*/, std::string_view about = "") {
    add(name, pair_schema(base::Json::object({{"type", "number"}})), about);
  }
  void names(const std::string& name, const Names& /*value*/, std::string_view about = "") {
    add(name, names_schema(text_schema()), about);
  }
  template <class Visit>
  void nested(const std::string& name, Visit visit, std::string_view about = "", std::string_view /*form*/ = "") {
    FieldsSchema own;
    visit(own);
    add(name, own.take(), about);
  }
  template <class Item>
  void item(const std::string& name, const Item& value, std::string_view about = "") {
    nested(
        name, [&](FieldsSchema& own) { Item::each_key(value, own); }, about);
  }
  template <class Item>
  void optional_item(const std::string& name, const std::optional<Item>& /*value*/, std::string_view about = "") {
    item(name, Item(), about);
  }
  template <class Item>
  void items(const std::string& name, const std::vector<Item>& /*values*/, std::string_view about = "");
  template <class Item>
  void all_or(const std::string& name, const std::optional<Item>& /*value*/, std::string_view about = "");

  /// A key with a form of its own.
  void add(const std::string& name, base::Json schema, std::string_view about = "", base::Json usual = {});
  /// Of the keys so far.
  const base::Json& keys() const { return keys_; }
  /// Their names.
  std::vector<std::string> key_names() const;
  /// The schema of the mapping, or of the key that stands in its place.
  base::Json take();

 private:
  base::Json keys_ = base::Json::object();
  base::Json needed_keys_ = base::Json::array();
  base::Json alone_;
};

/// Of an item whose fields `Item::each_key` lists.
template <class Item>
base::Json fields_schema() {
  FieldsSchema keys;
  const Item item{};
  Item::each_key(item, keys);
  return keys.take();
}

template <class Item>
void FieldsSchema::items(const std::string& name, const std::vector<Item>& /*values*/, std::string_view about) {
  add(name, list_schema(fields_schema<Item>(), Emptiness::allowed), about);
}
template <class Item>
void FieldsSchema::all_or(const std::string& name, const std::optional<Item>& /*value*/, std::string_view about) {
  add(name, either_schema({choice_schema({"all"}), fields_schema<Item>()}), about);
}

}  // namespace stereosweep::config
