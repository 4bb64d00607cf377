// Typed reading and writing of checked trees. Every fault goes to one report with file:line:key, and reading goes on.
//
// One list of keys for each struct: `Item::each_key(item, keys)` shows every key, with its value, to `keys`. The list
// is read by `Fields`, and shown to `ShownKeys`, which dump it (what is hashed is such a dump) or describe it. What
// stands in the list is thus known, kept, compared and documented. What has a form of its own is a function with an
// overload for either, which the list calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Yaml.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::config {

class Pieces;

/// What a dump holds: all of a job; what can change a raw number (of which the job hash is made); of that, what a block
/// does not say itself in its prompts (of which a block's key is made).
enum class Extent { everything, raw_numbers, block };

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
/// Index of the plain word among `choices`; `form`: what to write where none of them is near.
std::optional<std::size_t> read_choice(const Node& node, const std::string& key, base::Problems& problems,
                                       std::span<const std::string> choices, std::string_view form = "");
/// Whether the word `all` stands there; told where it does not. `other`: what else may.
bool is_all(const Node& node, const std::string& key, base::Problems& problems, const std::string& other,
            std::string_view form);
/// A list of lines without repeats; a list that is empty is an error.
std::optional<std::vector<std::string>> read_lines(const Node& node, const std::string& key, base::Problems& problems);
/// A list of exactly two lines.
std::optional<std::pair<std::string, std::string>> read_two(const Node& node, const std::string& key,
                                                            base::Problems& problems);
/// A list of words among `choices`, at least one and each once, as their indices.
std::vector<std::size_t> read_choices(const Node& node, const std::string& key, base::Problems& problems,
                                      std::span<const std::string> choices);
/// Reports unless the node is of this kind.
enum class Emptiness { allowed, refused };
bool expect_kind(const Node& node, Node::Kind kind, const std::string& key, base::Problems& problems,
                 Emptiness emptiness = Emptiness::allowed);
/// Calls `use(entry, its key)` for every entry of what must be a list.
void each_entry(const Node& list, const std::string& key, base::Problems& problems, auto use) {
  for (std::size_t i = 0; expect_kind(list, Node::Kind::list, key, problems) && i < list.children.size(); ++i) {
    use(list.children[i], key + "[" + std::to_string(i) + "]");
  }
}

/// {name: text}, in the order in which they stand.
using Names = std::vector<std::pair<std::string, std::string>>;

/// The form that is expected, for messages: "{label: ..., text: ...}"; "" where the item has no `key_form`.
template <class Item>
std::string_view form_of() {
  if constexpr (requires { Item::key_form; }) {
    return Item::key_form;
  } else {
    return "";
  }
}

/// What a list of keys says of the next key; every visitor has the same.
template <class Visitor>
class KeyMarks {
 protected:
  struct Marks {
    bool needed = false;
    bool unless_default = false;
    bool not_raw = false;
    bool told_by_block = false;
    bool alone = false;
  };

 public:
  /// The key has no default.
  Visitor& needed() { return mark(&Marks::needed); }
  /// Left out of dumps where it has its default, so that dumps of older runs stay what they were.
  Visitor& unless_default() { return mark(&Marks::unless_default); }
  /// Changes no raw number: neither job nor blocks are other ones where it changes.
  Visitor& not_raw() { return mark(&Marks::not_raw); }
  /// A block tells the value itself, by its prompts and what it asks of them.
  Visitor& told_by_block() { return mark(&Marks::told_by_block); }
  /// The item may be given as this key's value alone: "women" for {plural: women}.
  Visitor& alone() { return mark(&Marks::alone); }

  void required_line(const std::string& name, auto&& target, std::string_view about = "") {
    needed().line(name, target, about);
  }
  template <class Target = const std::vector<std::string>>
  void required_lines(const std::string& name, Target&& target, std::string_view about = "") {
    needed().lines(name, target, Emptiness::refused, about);
  }

 protected:
  const Marks& marks() const { return marks_; }
  /// Those of the key that is shown now; the next one has none.
  Marks take_marks() { return std::exchange(marks_, Marks()); }

 private:
  Visitor& mark(bool Marks::*which) {
    marks_.*which = true;
    return static_cast<Visitor&>(*this);
  }
  Marks marks_;
};

/// One mapping; keys that nobody asks for are unknown and reported by `finish`. Holds references: a local only. A
/// target keeps its value where its key is missing or what stands there is wrong. `about` is for people who write jobs
/// (ShownKeys).
class Fields : public KeyMarks<Fields> {
 public:
  /// Reports if `node` is no mapping, with the form that is expected ("{label: ..., text: ...}") where one is given;
  /// then every field is missing in silence. `pieces`: for paths, and what has a form of its own.
  Fields(const Node& node, std::string key, base::Problems& problems, std::string_view form = "",
         Pieces* pieces = nullptr);
  /// The value under `name`; null where it is missing.
  const Node* optional(const std::string& name);
  /// As `optional`, but a missing value is reported.
  const Node* required(const std::string& name);
  std::string key_of(const std::string& name) const;
  bool usable() const { return usable_; }
  /// Of the value under `name`, or of the mapping where it is missing; of "" the mapping.
  base::Place place(const std::string& name) const;
  void report(const sweep::KeyFault& fault) const {
    problems_.add(place(fault.key), fault.problem, fault.reason, fault.suggestion);
  }
  const Node& node() const { return node_; }
  base::Problems& problems() const { return problems_; }
  Pieces& pieces() const;

  /// Text of one line.
  void line(const std::string& name, std::string& target, std::string_view /*about*/ = "") {
    take(name, target, [](auto&... where) { return read_line(where...); });
  }
  /// Any text.
  void text(const std::string& name, std::string& target, std::string_view /*about*/ = "") {
    take(name, target, read_text);
  }
  void lines(const std::string& name, std::vector<std::string>& target, Emptiness emptiness = Emptiness::refused,
             std::string_view about = "");
  /// Any texts, also none.
  void texts(const std::string& name, std::vector<std::string>& target, std::string_view about = "");
  void boolean(const std::string& name, bool& target, std::string_view about = "");
  template <std::integral Integer>
  void integer(const std::string& name, Integer& target, std::int64_t smallest, std::int64_t largest,
               std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      const auto value = read_integer(*node, key_of(name), problems_, smallest, largest);
      target = value ? static_cast<Integer>(*value) : target;
    }
  }
  void number(const std::string& name, double& target, double smallest, double largest, std::string_view about = "");
  void seed(const std::string& name, std::uint64_t& target, std::string_view about = "");
  /// One of `names`, which stand in the order of the enumeration.
  template <class Choice>
  void choice(const std::string& name, Choice& target, const std::vector<std::string>& names,
              std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      const auto form = name == alone_ && !form_.empty() ? "Write " + form_ + "." : std::string();
      const auto index = read_choice(*node, key_of(name), problems_, names, form);
      target = index ? static_cast<Choice>(*index) : target;
    }
  }
  /// Several of them, each once.
  template <class Choice>
  void choices(const std::string& name, std::vector<Choice>& target, const std::vector<std::string>& names,
               std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      target.clear();
      for (const auto index : read_choices(*node, key_of(name), problems_, names)) {
        target.push_back(static_cast<Choice>(index));
      }
    }
  }
  /// Several of them, or one without brackets.
  template <class Choice>
  void one_or_more(const std::string& name, std::vector<Choice>& target, const std::vector<std::string>& names,
                   std::string_view about = "") {
    if (const Node* node = optional(name); node != nullptr && node->kind == Node::Kind::scalar) {
      target.resize(1);
      choice(name, target.front(), names, about);
    } else {
      choices(name, target, names, about);
    }
  }
  /// A file of the user's own.
  void path(const std::string& name, std::string& target, std::string_view about = "");
  /// `all`, or a list of labels; `target` is then empty, or that list.
  void labels(const std::string& name, std::vector<std::string>& target, std::string_view about = "");
  /// {axis or column: VALUE or [VALUE, ...]}. Faults are reported; what is wrong is left out.
  void selections(const std::string& name, std::vector<sweep::Selection>& target, std::string_view about = "");
  /// Selections, or one of `words`, which are the enumeration's values behind its first, that of selections; the first
  /// word where the key is missing.
  template <class Choice>
  void selections_or(const std::string& name, std::vector<sweep::Selection>& target, Choice& word,
                     const std::vector<std::string>& words, std::string_view about = "") {
    const Node* node = optional(name);
    word = static_cast<Choice>(node != nullptr && node->kind == Node::Kind::map ? 0 : 1);
    if (word == static_cast<Choice>(0)) {
      selections(name, target, about);
    } else if (next(name) != nullptr) {
      const auto index = read_choice(*node, key_of(name), problems_, words);
      word = static_cast<Choice>(index.value_or(0) + 1);
    }
  }
  /// Two numbers, the lower one first: [1, 7].
  void range(const std::string& name, double& low, double& high, std::string_view about = "");
  void names(const std::string& name, Names& target, std::string_view about = "");
  /// A mapping whose keys `visit(keys)` lists.
  void nested(const std::string& name, auto visit, std::string_view /*about*/ = "", std::string_view form = "") {
    if (const Node* node = next(name)) {
      Fields own(*node, key_of(name), problems_, form, pieces_);
      visit(own);
      own.finish();
    }
  }
  template <class Item>
  void item(const std::string& name, Item& target, std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      fill(*node, key_of(name), target);
    }
  }
  /// Nothing where the key is missing.
  template <class Item>
  void optional_item(const std::string& name, std::optional<Item>& target, std::string_view about = "") {
    if (optional(name) != nullptr) {
      item(name, target.emplace(), about);
    } else {
      next(name);
    }
  }
  template <class Item>
  void items(const std::string& name, std::vector<Item>& target, std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      target.clear();
      std::set<std::string> listed;
      each_entry(*node, key_of(name), problems_, [&](const Node& entry, const std::string& key) {
        fill(entry, key, target.emplace_back());
        if constexpr (requires { Item::listed_as; }) {
          const auto& own = target.back().name;
          problems_.add_if(!own.empty() && !listed.insert(own).second, entry.place(key),
                           std::string("a second ") + Item::listed_as + " '" + own + "'",
                           "they are told apart by their names");
        }
      });
    }
  }
  /// The word `all`, which stands for the defaults, or a mapping; nothing where the key is missing.
  template <class Item>
  void all_or(const std::string& name, std::optional<Item>& target, std::string_view /*about*/ = "") {
    if (const Node* node = next(name)) {
      Node keys = *node;
      if (node->kind == Node::Kind::scalar) {
        if (!is_all(*node, key_of(name), problems_, "a mapping", form_of<Item>())) {
          return;
        }
        keys.kind = Node::Kind::map;
      }
      fill(keys, key_of(name), target.emplace());
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
  /// The value of the key that is shown now; a value of the kind `alone` may stand in the place of the mapping.
  const Node* next(const std::string& name, Node::Kind alone = Node::Kind::scalar);
  /// What `read` makes of the value that is shown now.
  void take(const std::string& name, auto& target, auto read) {
    if (const Node* node = next(name)) {
      const auto key = key_of(name);
      target = read(*node, key, problems_).value_or(target);
    }
  }
  /// What is told from here on is wrong with this key.
  void begin_key(const std::string& name);
  /// Whether all keys that the fault follows from could be read.
  bool has_read(const sweep::KeyFault& fault) const;
  /// An item, and what is wrong with several of its keys together.
  template <class Item>
  void fill(const Node& node, const std::string& key, Item& target) {
    Fields own(node, key, problems_, form_of<Item>(), pieces_);
    Item::each_key(target, own);
    own.begin_key("");
    own.finish();
    if constexpr (requires { target.faults(); }) {
      for (const auto& fault : own.usable() ? target.faults() : std::vector<sweep::KeyFault>()) {
        if (own.has_read(fault)) {
          own.report(fault);
        }
      }
    }
  }

  const Node& node_;
  std::string key_;
  base::Problems& problems_;
  std::string form_;
  Pieces* pieces_;
  bool usable_ = false;
  std::string read_now_;
  std::size_t num_problems_ = 0;  ///< before that key
  std::set<std::string> unread_;  ///< keys with a fault of their own
  std::string alone_;             ///< the key whose value stands in the place of the mapping
  std::set<std::string> asked_;
};

// What dumps hold: texts are quoted, so that no reader takes them for anything else.

inline Node integer(std::int64_t value) { return Node::plain(std::to_string(value)); }
inline Node number(double value) { return Node::plain(base::format_double(value)); }
/// A list of what `dump` makes of each value.
template <class Value, class Dump>
Node list_of(const std::vector<Value>& values, Dump dump) {
  Node list = Node::list();
  for (const auto& value : values) {
    list.add(dump(value));
  }
  return list;
}
inline Node texts(const std::vector<std::string>& values) { return list_of(values, Node::text); }
/// Null where it is empty.
inline Node dump_text(const std::string& value) { return value.empty() ? Node() : Node::text(value); }
Node dump_selections(const std::vector<sweep::Selection>& selections);
/// Null where there are none.
Node dump_names(const Names& names);
/// The names of values of an enumeration, in whose order `names` stand.
template <class Choice>
Node choice_list(const std::vector<Choice>& values, const std::vector<std::string>& names) {
  return list_of(values, [&](Choice value) { return Node::plain(names[static_cast<std::size_t>(value)]); });
}

// Keys described as JSON Schema (draft 2020-12), for editors and validators. First schemas of values.

/// Text of one line: what YAML takes for a number or a boolean is one, too, as for the reader.
inline base::Json text_schema() { return {{"type", {"string", "number", "boolean"}}, {"minLength", 1}}; }
/// Text that may also be empty.
inline base::Json any_text_schema() { return base::Json::object({{"type", {"string", "number", "boolean"}}}); }
inline base::Json boolean_schema() { return base::Json::object({{"type", "boolean"}}); }
inline base::Json integer_schema(std::int64_t smallest, std::int64_t largest) {
  return {{"type", "integer"}, {"minimum", smallest}, {"maximum", largest}};
}
/// One of the words.
inline base::Json choice_schema(const std::vector<std::string>& names) { return base::Json::object({{"enum", names}}); }
base::Json list_schema(base::Json entry, Emptiness emptiness = Emptiness::refused);
/// A list of texts without repeats.
base::Json lines_schema(Emptiness emptiness = Emptiness::refused);
/// A list of exactly two values.
base::Json pair_schema(base::Json entry);
/// A mapping whose names are free.
inline base::Json names_schema(base::Json value) {
  return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}
/// One of several forms.
inline base::Json either_schema(std::vector<base::Json> forms) {
  return base::Json::object({{"anyOf", std::move(forms)}});
}
/// What the keys of these names read.
base::Json choices_schema(const std::vector<std::string>& names);
inline base::Json text_or_lines_schema() { return either_schema({text_schema(), lines_schema()}); }
inline base::Json selections_schema() { return names_schema(text_or_lines_schema()); }

/// What `find_source` understands, with the schema of an entry.
base::Json source_schema(base::Json entry);
template <class Item>
base::Json fields_schema();

/// The counterpart of `Fields`: a dump of each key that it is shown, or a description of them as JSON Schema, in which
/// the values are the defaults.
class ShownKeys : public KeyMarks<ShownKeys> {
  using Text = std::string;
  using Texts = std::vector<std::string>;
  using About = std::string_view;

 public:
  /// Of a dump. `defaults`: what is left out where it is marked so; asked only then.
  explicit ShownKeys(Extent extent = Extent::everything, const Node& (*defaults)() = nullptr)
      : extent_(extent), defaults_(defaults) {}
  static ShownKeys of_schema() {
    ShownKeys keys;
    keys.describes_ = true;
    keys.schemas_ = base::Json::object();
    return keys;
  }
  bool describes() const { return describes_; }
  Extent extent() const { return extent_; }

  void line(const Text& name, const Text& value, About about = "") {
    show(name, dump_text(value), about, value, text_schema);
  }
  void text(const Text& name, const Text& value, About about = "") {
    show(name, dump_text(value), about, value, any_text_schema);
  }
  void path(const Text& name, const Text& value, About about = "") { line(name, value, about); }
  void lines(const Text& name, const Texts& value, Emptiness emptiness = Emptiness::refused, About about = "") {
    show(name, config::texts(value), about, value, lines_schema, emptiness);
  }
  void texts(const Text& name, const Texts& value, About about = "") {
    show(name, config::texts(value), about, no_default,
         [] { return list_schema(any_text_schema(), Emptiness::allowed); });
  }
  void boolean(const Text& name, bool value, About about = "") {
    show(name, Node::plain(value ? "true" : "false"), about, value, boolean_schema);
  }
  void integer(const Text& name, std::int64_t value, std::int64_t smallest, std::int64_t largest, About about = "") {
    show(name, config::integer(value), about, value, integer_schema, smallest, largest);
  }
  void number(const Text& name, double value, double smallest, double largest, About about = "") {
    show(name, config::number(value), about, value, [&] {
      return base::Json::object({{"type", "number"}, {"minimum", smallest}, {"maximum", largest}});
    });
  }
  void seed(const Text& name, std::uint64_t value, About about = "") {
    show(name, Node::plain(std::to_string(value)), about, value, [] {
      return base::Json::object({{"type", "integer"}, {"minimum", 0}});
    });
  }
  void choice(const Text& name, auto value, const Texts& names, About about = "") {
    const auto index = static_cast<std::size_t>(value);
    const auto word = index < names.size() ? names[index] : Text();
    show(name, Node::plain(word), about, word, choice_schema, names);
  }
  template <class Choice>
  void choices(const Text& name, const std::vector<Choice>& values, const Texts& names, About about = "") {
    show(name, choice_list(values, names), about, no_default, choices_schema, names);
  }
  template <class Choice>
  void one_or_more(const Text& name, const std::vector<Choice>& values, const Texts& names, About about = "") {
    show(name, choice_list(values, names), about, no_default, [&] {
      return either_schema({choice_schema(names), list_schema(choice_schema(names))});
    });
  }
  void labels(const Text& name, const Texts& value, About about = "") {
    show(name, value.empty() ? Node::plain("all") : config::texts(value), about, no_default, [] {
      return either_schema({choice_schema({"all"}), lines_schema()});
    });
  }
  void selections(const Text& name, const std::vector<sweep::Selection>& value, About about = "") {
    show(name, dump_selections(value), about, no_default, selections_schema);
  }
  void selections_or(const Text& name, const std::vector<sweep::Selection>& value, auto word, const Texts& words,
                     About about = "") {
    const auto place = static_cast<std::size_t>(word);
    show(name, place == 0 ? dump_selections(value) : Node::plain(words[place - 1]), about, no_default, [&] {
      return either_schema({choice_schema(words), selections_schema()});
    });
  }
  void range(const Text& name, double low, double high, About about = "") {
    show(name, list_of(std::vector{low, high}, config::number), about, no_default, [] {
      return pair_schema(base::Json::object({{"type", "number"}}));
    });
  }
  void names(const Text& name, const Names& value, About about = "") {
    show(name, dump_names(value), about, no_default, [] { return names_schema(text_schema()); });
  }
  template <class Item>
  void item(const Text& name, const Item& value, About about = "");
  template <class Item>
  void optional_item(const Text& name, const std::optional<Item>& value, About about = "");
  template <class Item>
  void items(const Text& name, const std::vector<Item>& values, About about = "");
  template <class Item>
  void all_or(const Text& name, const std::optional<Item>& value, About about = "");

  void nested(const Text& name, auto visit, About about = "", std::string_view /*form*/ = "") {
    auto own = describes_ ? of_schema() : ShownKeys(extent_);
    if (wants_key()) {
      visit(own);
    }
    show(name, own.take(), about, no_default, [&] { return own.take_schema(); });
  }
  /// A key with a form of its own: `schema(what...)` describes its value.
  void own(const Text& name, Node value, About about, const auto& schema, const auto&... what) {
    show(name, std::move(value), about, no_default, schema, what...);
  }
  /// Items that may also stand in a piece or a table (`source_schema`).
  template <class Item>
  void sourced(const Text& name, const std::vector<Item>& items, About about) {
    show(name, wants_value() ? list(items) : Node(), about, no_default,
         [] { return source_schema(fields_schema<Item>()); });
  }
  /// What a dump has of each item.
  template <class Item>
  Node list(const std::vector<Item>& items) const;
  /// In a dump alone, by the marks of the key. What is null is left out.
  void add(const Text& name, Node value);
  /// All of them, as a part of this mapping.
  void append(Node keys) {
    for (std::size_t i = 0; i < keys.keys.size(); ++i) {
      add(keys.keys[i], std::move(keys.children[i]));
    }
  }
  /// In a schema alone.
  void describe(const Text& name, base::Json schema, About about = "", base::Json usual = {});
  Node take() { return std::move(map_); }
  /// The schema of the mapping, or of the key that stands in its place.
  base::Json take_schema();
  /// Schemas of the keys so far.
  const base::Json& schemas() const { return schemas_; }
  std::vector<std::string> key_names() const;

 private:
  static constexpr std::string_view no_default = "";
  void show(const Text& name, Node value, About about, const auto& usual, const auto& schema, const auto&... what) {
    if (describes_) {
      describe(name, schema(what...), about, default_of(usual));
    } else {
      add(name, std::move(value));
    }
  }
  static base::Json default_of(const auto& usual) {
    if constexpr (requires { usual.empty(); }) {
      return usual.empty() ? base::Json() : base::Json(usual);
    } else {
      return usual;
    }
  }
  /// Whether the marks say that this dump has not the key.
  bool leaves_out(const Marks& marks) const {
    return (marks.not_raw && extent_ != Extent::everything) || (marks.told_by_block && extent_ == Extent::block);
  }
  bool wants_key() const { return describes_ || !leaves_out(marks()); }
  bool wants_value() const { return !describes_ && !leaves_out(marks()); }

  Extent extent_;
  const Node& (*defaults_)();
  bool describes_ = false;
  Node map_ = Node::map();
  base::Json schemas_, needed_keys_, alone_;
};

/// Fills an item whose fields `Item::each_key` lists.
template <class Item>
void read_fields(const Node& node, const std::string& key, base::Problems& problems, Item& item,
                 std::string_view form = "", Pieces* pieces = nullptr) {
  Fields fields(node, key, problems, form, pieces);
  Item::each_key(item, fields);
  fields.finish();
}

/// Of an item that nobody changed.
template <class Item>
const Node& default_fields() {
  static const Node node = [] {
    ShownKeys fields(Extent::everything);
    const Item item{};
    Item::each_key(item, fields);
    return fields.take();
  }();
  return node;
}

/// What a dump of this extent holds of it.
template <class Item>
Node dump_extent(const Item& item, Extent extent) {
  ShownKeys fields(extent, default_fields<Item>);
  Item::each_key(item, fields);
  return fields.take();
}
/// What `read_fields` reads back.
Node dump_fields(const auto& item) { return dump_extent(item, Extent::everything); }

/// Of an item whose keys `Item::each_key` lists; what it holds are the defaults.
template <class Item>
base::Json schema_of(const Item& usual) {
  auto keys = ShownKeys::of_schema();
  Item::each_key(usual, keys);
  return keys.take_schema();
}
template <class Item>
base::Json fields_schema() {
  return schema_of(Item());
}

template <class Item>
Node ShownKeys::list(const std::vector<Item>& items) const {
  return list_of(items, [&](const Item& item) { return dump_extent(item, extent_); });
}
template <class Item>
void ShownKeys::item(const Text& name, const Item& value, About about) {
  show(name, wants_value() ? dump_extent(value, extent_) : Node(), about, no_default, schema_of<Item>, value);
}
template <class Item>
void ShownKeys::optional_item(const Text& name, const std::optional<Item>& value, About about) {
  show(name, value ? dump_extent(*value, extent_) : Node(), about, no_default, fields_schema<Item>);
}
template <class Item>
void ShownKeys::items(const Text& name, const std::vector<Item>& values, About about) {
  show(name, wants_value() ? list(values) : Node(), about, no_default,
       [] { return list_schema(fields_schema<Item>(), Emptiness::allowed); });
}
template <class Item>
void ShownKeys::all_or(const Text& name, const std::optional<Item>& value, About about) {
  const auto shown = value ? dump_extent(*value, extent_) : Node();
  const bool is_usual = value && shown == default_fields<Item>();
  show(name, is_usual ? Node::plain("all") : shown, about, no_default, [] {
    return either_schema({choice_schema({"all"}), fields_schema<Item>()});
  });
}

}  // namespace stereosweep::config
