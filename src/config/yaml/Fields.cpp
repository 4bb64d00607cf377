#include "config/yaml/Fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "config/axes/AxisSource.hpp"

namespace stereosweep::config {
namespace {

constexpr std::size_t max_suggestions = 30;
constexpr std::size_t max_unknown_keys = 50;

void wrong_type(const Node& node, const std::string& key, base::Problems& problems, std::string_view expected,
                std::string_view suggestion = "") {
  problems.add_if(node.kind != Node::Kind::broken, node.place(key), std::string(expected) + " is expected",
                  "here stands " + kind_name(node), suggestion);
}

std::string boolean_hint(std::string_view value) {
  const bool yes = value == "yes" || value == "on" || value == "True" || value == "TRUE" || value == "1";
  const bool no = value == "no" || value == "off" || value == "False" || value == "FALSE" || value == "0";
  return yes ? "did you mean 'true'?" : no ? "did you mean 'false'?" : "";
}

template <class Integer>
std::optional<Integer> read_whole(const Node& node, const std::string& key, base::Problems& problems, Integer smallest,
                                  Integer largest) {
  const auto range = "a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest);
  if (node.kind != Node::Kind::scalar || node.style != Node::Style::plain) {
    wrong_type(node, key, problems, range);
    return std::nullopt;
  }
  Integer value = 0;
  const char* last = node.value.data() + node.value.size();
  const auto [end, status] = std::from_chars(node.value.data(), last, value);
  if (status != std::errc() || end != last || value < smallest || value > largest) {
    problems.add(node.place(key), range + " is expected", "here stands '" + base::excerpt(node.value, 60) + "'");
    return std::nullopt;
  }
  return value;
}

std::optional<bool> read_boolean(const Node& node, const std::string& key, base::Problems& problems) {
  const bool is_plain = node.kind == Node::Kind::scalar && node.style == Node::Style::plain;
  if (is_plain && (node.value == "true" || node.value == "false")) {
    return node.value == "true";
  }
  wrong_type(node, key, problems, "true or false", is_plain ? boolean_hint(node.value) : "");
  return std::nullopt;
}

}  // namespace

std::string suggest(std::string_view word, std::span<const std::string> candidates, const base::Problems& problems) {
  const bool cheap = problems.size() < max_suggestions && word.size() <= 100 && candidates.size() <= 5000;
  if (!cheap) {
    return "";
  }
  for (const auto& candidate : candidates) {
    if (word.size() >= 3 && candidate.starts_with(word) && candidate != word) {
      return "did you mean '" + candidate + "'?";
    }
  }
  return base::did_you_mean(word, candidates);
}

std::string one_of(std::span<const std::string> candidates) {
  std::string text = "one of ";
  for (std::size_t i = 0; i < candidates.size() && i < 20; ++i) {
    text += (i == 0 ? "'" : ", '") + candidates[i] + "'";
  }
  return text + (candidates.size() > 20 ? ", ..." : "");
}

std::optional<std::string> read_text(const Node& node, const std::string& key, base::Problems& problems) {
  if (node.kind == Node::Kind::scalar) {
    return node.value;
  }
  wrong_type(node, key, problems, "text",
             node.kind == Node::Kind::null  ? "Give a value, or leave the key out."
             : node.kind == Node::Kind::map ? "Put a text that begins with '{' in quotes."
                                            : "Put a text that begins with '[' in quotes.");
  return std::nullopt;
}

std::optional<std::string> read_line(const Node& node, const std::string& key, base::Problems& problems,
                                     std::size_t max_bytes) {
  auto text = read_text(node, key, problems);
  if (!text) {
    return std::nullopt;
  }
  if (text->empty()) {
    problems.add(node.place(key), "the text is empty", "at least one character is needed");
  } else if (text->find_first_of("\n\r\t") != std::string::npos) {
    problems.add(node.place(key), "the text holds a line break or a tab", "it must be one line",
                 "Single quotes keep a backslash; double quotes turn \\n into a line break.");
  } else if (base::trim(*text).size() != text->size()) {
    problems.add(node.place(key), "white space at the start or the end of '" + base::excerpt(*text, 60) + "'",
                 "it would end up in the prompts");
  } else if (text->size() > max_bytes) {
    problems.add(node.place(key), "the text has " + std::to_string(text->size()) + " bytes",
                 "limit: " + std::to_string(max_bytes));
  } else {
    return text;
  }
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(const Node& node, const std::string& key, base::Problems& problems,
                                         std::int64_t smallest, std::int64_t largest) {
  return read_whole(node, key, problems, smallest, largest);
}

std::optional<std::size_t> read_choice(const Node& node, const std::string& key, base::Problems& problems,
                                       std::span<const std::string> choices, std::string_view form) {
  if (node.kind != Node::Kind::scalar) {
    wrong_type(node, key, problems, one_of(choices));
    return std::nullopt;
  }
  if (const auto found = std::ranges::find(choices, node.value); found != choices.end()) {
    return static_cast<std::size_t>(found - choices.begin());
  }
  const auto suggestion = suggest(node.value, choices, problems);
  problems.add(node.place(key), "unknown value '" + base::excerpt(node.value, 60) + "'", one_of(choices),
               suggestion.empty() ? form : suggestion);
  return std::nullopt;
}

bool is_all(const Node& node, const std::string& key, base::Problems& problems, const std::string& other,
            std::string_view form) {
  if (node.kind == Node::Kind::scalar && node.value == "all") {
    return true;
  }
  wrong_type(node, key, problems, other + " or the word all", form.empty() ? "" : "Write " + std::string(form) + ".");
  return false;
}

std::vector<std::size_t> read_choices(const Node& node, const std::string& key, base::Problems& problems,
                                      std::span<const std::string> choices) {
  std::vector<std::size_t> result;
  if (!expect_kind(node, Node::Kind::list, key, problems, Emptiness::refused)) {
    return result;
  }
  each_entry(node, key, problems, [&](const Node& entry, const std::string& entry_key) {
    const auto index = read_choice(entry, entry_key, problems, choices);
    if (index && base::contains(result, *index)) {
      problems.add(entry.place(entry_key), "'" + choices[*index] + "' stands twice", "each counts once");
    } else if (index) {
      result.push_back(*index);
    }
  });
  return result;
}

std::optional<std::vector<std::string>> read_lines(const Node& node, const std::string& key, base::Problems& problems) {
  if (!expect_kind(node, Node::Kind::list, key, problems, Emptiness::refused)) {
    return std::nullopt;
  }
  std::vector<std::string> lines;
  std::unordered_set<std::string> seen;
  each_entry(node, key, problems, [&](const Node& entry, const std::string& entry_key) {
    const auto line = read_line(entry, entry_key, problems);
    if (line && seen.insert(*line).second) {
      lines.push_back(*line);
    } else if (line) {
      problems.add(entry.place(entry_key), "'" + *line + "' stands twice", "each value counts once");
    }
  });
  return lines.size() == node.children.size() ? std::optional(lines) : std::nullopt;
}

std::optional<std::pair<std::string, std::string>> read_two(const Node& node, const std::string& key,
                                                            base::Problems& problems) {
  if (node.kind != Node::Kind::list) {
    wrong_type(node, key, problems, "a list of exactly two texts", "Write [one, other].");
    return std::nullopt;
  }
  if (node.children.size() != 2) {
    problems.add(node.place(key), "a list of exactly two texts is expected",
                 "here are " + std::to_string(node.children.size()));
    return std::nullopt;
  }
  const auto first = read_line(node.children[0], key + "[0]", problems);
  const auto second = read_line(node.children[1], key + "[1]", problems);
  return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

bool expect_kind(const Node& node, Node::Kind kind, const std::string& key, base::Problems& problems,
                 Emptiness emptiness) {
  if (node.kind != kind) {
    const bool alone = kind == Node::Kind::list && node.kind == Node::Kind::scalar && node.value.size() <= 60;
    const std::string quote = node.style == Node::Style::verbatim ? "'" : "";
    wrong_type(node, key, problems, kind == Node::Kind::list ? "a list" : "a mapping",
               alone ? "Write [" + quote + node.value + quote + "]." : "");
    return false;
  }
  if (emptiness == Emptiness::refused && node.children.empty()) {
    problems.add(node.place(key), "the list is empty", "at least one entry is needed");
    return false;
  }
  return true;
}

Fields::Fields(const Node& node, std::string key, base::Problems& problems, std::string_view form, Pieces* pieces)
    : node_(node),
      key_(std::move(key)),
      problems_(problems),
      form_(form),
      pieces_(pieces),
      usable_(node.kind == Node::Kind::map),
      num_problems_(problems.size()) {}

void Fields::begin_key(const std::string& name) {
  if (problems_.size() > num_problems_) {
    unread_.insert(read_now_);
  }
  num_problems_ = problems_.size();
  read_now_ = name;
}

bool Fields::has_read(const sweep::KeyFault& fault) const {
  const auto keys = fault.of.empty() && !fault.key.empty() ? std::vector{fault.key} : fault.of;
  return keys.empty() ? unread_.empty()
                      : std::ranges::none_of(keys, [&](const auto& key) { return unread_.contains(key); });
}

std::string Fields::key_of(const std::string& name) const {
  return key_.empty() ? name : name == alone_ ? key_ : key_ + "." + name;
}

base::Place Fields::place(const std::string& name) const {
  if (name.empty()) {
    return node_.place(key_);
  }
  const Node* found = usable_ ? node_.find(name) : nullptr;
  return (found == nullptr ? node_ : *found).place(key_of(name));
}

Pieces& Fields::pieces() const {
  STEREOSWEEP_ASSERT(pieces_ != nullptr, "the reader of a key that names files was given where they are");
  return *pieces_;
}

const Node* Fields::next(const std::string& name, Node::Kind alone) {
  const auto marks = take_marks();
  if (marks.alone && node_.kind == alone) {
    alone_ = name;
    return &node_;
  }
  return marks.needed ? required(name) : optional(name);
}

const Node* Fields::optional(const std::string& name) {
  begin_key(name);
  asked_.insert(name);
  return usable_ ? node_.find(name) : nullptr;
}

const Node* Fields::required(const std::string& name) {
  const Node* node = optional(name);
  if (node == nullptr && usable_) {
    // The nearest misspelt key is reported by finish; here only the gap is named.
    problems_.add(node_.place(key_of(name)), "the key '" + name + "' is missing", "it has no default",
                  "Write '" + name + ": ...' here.");
  }
  return node;
}

void Fields::lines(const std::string& name, std::vector<std::string>& target, Emptiness emptiness,
                   std::string_view /*about*/) {
  const Node* node = next(name, Node::Kind::list);
  const bool is_empty = node != nullptr && node->kind == Node::Kind::list && node->children.empty();
  if (node != nullptr && !(is_empty && emptiness == Emptiness::allowed)) {
    target = read_lines(*node, key_of(name), problems_).value_or(target);
  }
}

void Fields::texts(const std::string& name, std::vector<std::string>& target, std::string_view /*about*/) {
  if (const Node* node = next(name)) {
    target.clear();
    each_entry(*node, key_of(name), problems_, [&](const Node& entry, const std::string& key) {
      target.push_back(read_text(entry, key, problems_).value_or(""));
    });
  }
}

void Fields::boolean(const std::string& name, bool& target, std::string_view /*about*/) {
  take(name, target, read_boolean);
}

void Fields::seed(const std::string& name, std::uint64_t& target, std::string_view /*about*/) {
  take(name, target, [](auto&... where) {
    return read_whole(where..., std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
  });
}

void Fields::path(const std::string& name, std::string& target, std::string_view /*about*/) {
  if (const Node* node = next(name)) {
    target = read_line(*node, key_of(name), problems_, 4000).value_or("");
    target = target.empty() ? "" : pieces().resolve_path(target);
  }
}

void Fields::labels(const std::string& name, std::vector<std::string>& target, std::string_view /*about*/) {
  const Node* node = next(name);
  if (node != nullptr && node->kind == Node::Kind::scalar) {
    is_all(*node, key_of(name), problems_, "a list", "[" + base::excerpt(node->value, 60) + "]");
    target.clear();
  } else if (node != nullptr) {
    target = read_lines(*node, key_of(name), problems_).value_or(target);
  }
}

void Fields::selections(const std::string& name, std::vector<sweep::Selection>& target, std::string_view /*about*/) {
  const Node* node = next(name);
  if (node == nullptr) {
    return;
  }
  target.clear();
  if (!expect_kind(*node, Node::Kind::map, key_of(name), problems_)) {
    target = {{}};  // wrong, but there: nobody is told that it is missing
    return;
  }
  for (std::size_t i = 0; i < node->keys.size(); ++i) {
    const auto& value = node->children[i];
    const auto place = key_of(name) + "." + node->keys[i];
    sweep::Selection selection{node->keys[i], {}};
    if (value.kind == Node::Kind::list) {
      selection.values = read_lines(value, place, problems_).value_or(std::vector<std::string>());
    } else if (const auto line = read_line(value, place, problems_)) {
      selection.values = {*line};
    }
    target.push_back(std::move(selection));
  }
}

void Fields::range(const std::string& name, double& low, double& high, std::string_view /*about*/) {
  const Node* node = next(name);
  const auto ends = node == nullptr ? std::nullopt : read_two(*node, key_of(name), problems_);
  if (!ends) {
    return;
  }
  const auto first = base::parse_double(ends->first);
  const auto second = base::parse_double(ends->second);
  if (first && second && *first < *second) {
    low = *first;
    high = *second;
  } else {
    problems_.add(node->place(key_of(name)), "'" + ends->first + "', '" + ends->second + "' are no ends of a scale",
                  "two numbers are expected, the lower one first", "Write [1, 7].");
  }
}

void Fields::names(const std::string& name, Names& target, std::string_view /*about*/) {
  const Node* node = next(name);
  if (node == nullptr) {
    return;
  }
  target.clear();
  const bool is_map = expect_kind(*node, Node::Kind::map, key_of(name), problems_);
  for (std::size_t i = 0; is_map && i < node->keys.size(); ++i) {
    const auto key = key_of(name) + "." + base::excerpt(node->keys[i], 60);
    if (const auto label = read_line(node->children[i], key, problems_)) {
      target.emplace_back(node->keys[i], *label);
    }
  }
}

void Fields::piece_head() {
  std::size_t schema = 0;
  std::string about;
  choice("schema", schema, {"stereosweep/1"});
  text("about", about);
}

void Fields::number(const std::string& name, double& target, double smallest, double largest,
                    std::string_view /*about*/) {
  const Node* node = next(name);
  const auto text = node != nullptr ? read_text(*node, key_of(name), problems_) : std::nullopt;
  if (!text) {
    return;
  }
  const auto value = base::parse_double(*text);
  problems_.add_if(
      !value || *value < smallest || *value > largest, node->place(key_of(name)),
      "a number from " + base::format_double(smallest) + " to " + base::format_double(largest) + " is expected",
      "here stands '" + base::excerpt(*text, 60) + "'");
  target = value.value_or(target);
}

Fields::Named Fields::either(const std::string& name, const std::string& other) {
  const Node* first = optional(name);
  const Node* second = optional(other);
  if (first != nullptr && second != nullptr) {
    problems_.add(second->place(key_of(other)), "'" + key_of(name) + "' and '" + key_of(other) + "' are both given",
                  "both " + key_of(name) + " and " + key_of(other) + " name the same axis", "Leave one of them out.");
  }
  return first != nullptr ? Named{first, key_of(name)} : Named{second, key_of(other)};
}

void Fields::finish() {
  if (!usable_) {
    if (alone_.empty()) {
      wrong_type(node_, key_, problems_, "a mapping", form_.empty() ? "" : "Write " + form_ + ".");
    }
    return;
  }
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  std::size_t num_unknown = 0;
  for (std::size_t i = 0; i < node_.keys.size(); ++i) {
    const std::string& name = node_.keys[i];
    if (asked_.contains(name) || ++num_unknown > max_unknown_keys) {
      continue;
    }
    const auto glued = name.substr(0, name.find(':'));  // "{path:here}" is one key to YAML
    const bool lacks_blank = glued != name && asked_.contains(glued);
    const auto hint =
        lacks_blank ? "Put a blank behind the colon: '" + glued + ": '." : suggest(name, known, problems_);
    const Node& child = node_.children[i];
    problems_.add(child.place(key_of(base::excerpt(name, 100))), "unknown key '" + base::excerpt(name, 100) + "'",
                  "known here: " + base::join(known, ", "), hint);
  }
  problems_.add_if(num_unknown > max_unknown_keys, node_.place(key_),
                   std::to_string(num_unknown - max_unknown_keys) + " more unknown keys", "only the first are listed");
}

void ShownKeys::add(const std::string& name, Node value) {
  const auto marks = take_marks();
  const bool is_left_out = value.kind == Node::Kind::null || leaves_out(marks);
  const Node* usual = marks.unless_default && defaults_ != nullptr && !is_left_out ? defaults_().find(name) : nullptr;
  if (!is_left_out && (usual == nullptr || !(value == *usual))) {
    map_.add(name, std::move(value));
  }
}

Node dump_names(const Names& names) {
  Node map = names.empty() ? Node() : Node::map();
  for (const auto& [own, label] : names) {
    map.add(own, Node::text(label));
  }
  return map;
}

Node dump_selections(const std::vector<sweep::Selection>& selections) {
  Node map = Node::map();
  for (const auto& selection : selections) {
    map.add(selection.axis, texts(selection.values));
  }
  return map;
}

using base::Json;

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

Json choices_schema(const std::vector<std::string>& names) {
  auto schema = list_schema(choice_schema(names));
  schema["uniqueItems"] = true;
  return schema;
}

void ShownKeys::describe(const std::string& name, Json schema, std::string_view about, Json usual) {
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
  schemas_[name] = std::move(schema);
}

std::vector<std::string> ShownKeys::key_names() const {
  return base::mapped(schemas_.items(), [](const auto& entry) { return std::string(entry.key()); });
}

Json ShownKeys::take_schema() {
  Json schema = {{"type", "object"}, {"properties", std::move(schemas_)}, {"additionalProperties", false}};
  if (!needed_keys_.empty()) {
    schema["required"] = std::move(needed_keys_);
  }
  return alone_.is_null() ? schema : either_schema({std::move(alone_), std::move(schema)});
}

}  // namespace stereosweep::config
