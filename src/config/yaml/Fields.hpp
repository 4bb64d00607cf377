// Typed reading and writing of checked trees. Every fault goes to one report with file:line:key, and reading goes on.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/Node.hpp"

namespace stereosweep::config {

/// did_you_mean, but nothing where the report or the list is so long that it would only cost time.
std::string suggest(std::string_view word, std::span<const std::string> candidates, const base::Problems& problems);
/// "one of 'a', 'b'"
std::string one_of(std::span<const std::string> candidates);

/// Each returns nothing after reporting what is wrong with the node; `key` is its dotted path.
std::optional<std::string> read_text(const Node& node, const std::string& key, base::Problems& problems);
/// Text of one line, not empty, without white space at its ends, at most `max_bytes`.
std::optional<std::string> read_line(const Node& node, const std::string& key, base::Problems& problems,
                                     std::size_t max_bytes = 2000);
std::optional<std::int64_t> read_integer(const Node& node, const std::string& key, base::Problems& problems,
                                         std::int64_t smallest, std::int64_t largest);
std::optional<std::uint64_t> read_seed(const Node& node, const std::string& key, base::Problems& problems);
std::optional<bool> read_boolean(const Node& node, const std::string& key, base::Problems& problems);
/// Index of the plain word among `choices`.
std::optional<std::size_t> read_choice(const Node& node, const std::string& key, base::Problems& problems,
                                       std::span<const std::string> choices);
/// A list of lines without repeats; a list that is empty is an error.
std::optional<std::vector<std::string>> read_lines(const Node& node, const std::string& key, base::Problems& problems);
/// A list of exactly two lines.
std::optional<std::pair<std::string, std::string>> read_two(const Node& node, const std::string& key,
                                                            base::Problems& problems);
/// A list of words among `choices`, as their indices. `distinct`: at least one, each once; `any`: may be empty, and may
/// repeat.
enum class Choices { any, distinct };
std::vector<std::size_t> read_choices(const Node& node, const std::string& key, base::Problems& problems,
                                      std::span<const std::string> choices, Choices wanted);
/// Reports unless the node is of this kind.
enum class Emptiness { allowed, refused };
bool expect_kind(const Node& node, Node::Kind kind, const std::string& key, base::Problems& problems,
                 Emptiness emptiness = Emptiness::allowed);
/// Calls `use(entry, its key)` for every entry of what must be a list.
template <class Use>
void each_entry(const Node& list, const std::string& key, base::Problems& problems, Use use) {
  for (std::size_t i = 0; expect_kind(list, Node::Kind::list, key, problems) && i < list.children.size(); ++i) {
    use(list.children[i], key + "[" + std::to_string(i) + "]");
  }
}

/// One mapping; keys that nobody asks for are unknown and reported by `finish`. Holds references: a local only. A
/// target keeps its value where its key is missing or what stands there is wrong; FieldsDump writes the same keys.
class Fields {
 public:
  /// Reports if `node` is no mapping, with the form that is expected ("{label: ..., text: ...}") where one is given;
  /// then every field is missing in silence.
  Fields(const Node& node, std::string key, base::Problems& problems, std::string_view form = "");
  /// The value under `name`; null where it is missing.
  const Node* optional(const std::string& name);
  /// As `optional`, but a missing value is reported.
  const Node* required(const std::string& name);
  std::string key_of(const std::string& name) const { return key_.empty() ? name : key_ + "." + name; }
  bool usable() const { return usable_; }

  void line(const std::string& name, std::string& target);           ///< optional text of one line
  void required_line(const std::string& name, std::string& target);  ///< the same, reported where missing
  void text(const std::string& name, std::string& target);           ///< any text
  void lines(const std::string& name, std::vector<std::string>& target, Emptiness emptiness = Emptiness::refused);
  void required_lines(const std::string& name, std::vector<std::string>& target);
  void boolean(const std::string& name, bool& target);
  template <std::integral Integer>
  void integer(const std::string& name, Integer& target, std::int64_t smallest, std::int64_t largest) {
    if (const Node* node = optional(name)) {
      const auto value = read_integer(*node, key_of(name), problems_, smallest, largest);
      target = value ? static_cast<Integer>(*value) : target;
    }
  }
  void number(const std::string& name, double& target, double smallest, double largest);
  /// One of `names`, which stand in the order of the enumeration.
  template <class Choice>
  void choice(const std::string& name, Choice& target, const std::vector<std::string>& names) {
    if (const Node* node = optional(name)) {
      const auto index = read_choice(*node, key_of(name), problems_, names);
      target = index ? static_cast<Choice>(*index) : target;
    }
  }
  /// What has two names; null where neither is given, reported where both are.
  struct Named {
    const Node* node = nullptr;
    std::string key;
  };
  Named either(const std::string& name, const std::string& other);
  /// `schema` and `about`, which stand at the top of a piece.
  void piece_head();
  void finish();

 private:
  const Node& node_;
  std::string key_;
  base::Problems& problems_;
  bool usable_ = false;
  std::set<std::string> asked_;
};

// What dumps hold: texts are quoted, so that no reader takes them for anything else.

/// Leaves empty texts out.
void add_text(Node& map, const std::string& key, const std::string& value);
Node integer(std::int64_t value);
Node number(double value);
/// A list of what `dump` makes of each value.
template <class Value, class Dump>
Node list_of(const std::vector<Value>& values, Dump dump) {
  Node list = Node::list();
  for (const auto& value : values) {
    list.add(dump(value));
  }
  return list;
}
Node texts(const std::vector<std::string>& values);

/// Writes each field that it is shown: the counterpart of `Fields`, so that one list of fields reads and dumps. Empty
/// texts are left out.
class FieldsDump {
 public:
  void line(const std::string& name, const std::string& value) { add_text(map_, name, value); }
  void required_line(const std::string& name, const std::string& value) { add_text(map_, name, value); }
  void text(const std::string& name, const std::string& value) { add_text(map_, name, value); }
  void lines(const std::string& name, const std::vector<std::string>& value, Emptiness /*emptiness*/) {
    map_.add(name, texts(value));
  }
  void required_lines(const std::string& name, const std::vector<std::string>& value) { map_.add(name, texts(value)); }
  void integer(const std::string& name, std::int64_t value, std::int64_t /*smallest*/, std::int64_t /*largest*/) {
    map_.add(name, config::integer(value));
  }
  void number(const std::string& name, double value, double /*smallest*/, double /*largest*/) {
    map_.add(name, config::number(value));
  }
  template <class Choice>
  void choice(const std::string& name, Choice value, const std::vector<std::string>& names) {
    map_.add(name, Node::plain(names[static_cast<std::size_t>(value)]));
  }
  void add(const std::string& name, Node value) { map_.add(name, std::move(value)); }
  Node take() { return std::move(map_); }

 private:
  Node map_ = Node::map();
};

/// Fills an item whose fields `Item::each_key` lists.
template <class Item>
void read_fields(const Node& node, const std::string& key, base::Problems& problems, Item& item,
                 std::string_view form = "") {
  Fields fields(node, key, problems, form);
  Item::each_key(item, fields);
  fields.finish();
}

/// What `read_fields` reads back.
template <class Item>
Node dump_fields(const Item& item) {
  FieldsDump fields;
  Item::each_key(item, fields);
  return fields.take();
}

/// The names of values of an enumeration, in whose order `names` stand.
template <class Choice>
Node choice_list(const std::vector<Choice>& values, const std::vector<std::string>& names) {
  return list_of(values, [&](Choice value) { return Node::plain(names[static_cast<std::size_t>(value)]); });
}

}  // namespace stereosweep::config
