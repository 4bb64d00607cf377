#include "config/yaml/Yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "base/text/Text.hpp"

namespace stereosweep::config {

const Node* Node::find(std::string_view key) const {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? nullptr : &children[static_cast<std::size_t>(at - keys.begin())];
}

Node& Node::at(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? add(std::string(key), Node()) : children[static_cast<std::size_t>(at - keys.begin())];
}

Node Node::take(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) {
    return {};
  }
  const auto child = children.begin() + (at - keys.begin());
  Node taken = std::move(*child);
  children.erase(child);
  keys.erase(at);
  return taken;
}

Node& Node::add(std::string key, Node child) {
  keys.push_back(std::move(key));
  children.push_back(std::move(child));
  return children.back();
}

Node& Node::add(Node child) {
  children.push_back(std::move(child));
  return children.back();
}

std::string kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return node.style == Node::Style::verbatim ? "quoted text" : "the word '" + base::excerpt(node.value, 40) + "'";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a mapping";
    case Node::Kind::broken:
      break;
  }
  return "a broken value";
}

namespace {

/// Ends the reading of a document whose fault is already in the report.
struct Stop {};

/// Line breaks at the end of the quoted text that begins at `begin` which yaml-cpp does not tell: it keeps none where
/// nothing stands before them, two behind an escape, else one. 0 where no quote stands there.
std::size_t lost_breaks(std::string_view text, std::size_t begin) {
  const auto quote = text.substr(begin, 1);
  auto at = quote == "'" || quote == "\"" ? begin + 1 : text.size();
  std::size_t kept = 0;
  std::size_t breaks = 0;
  for (std::string_view unit; at < text.size() && unit != quote; at += unit.size()) {
    const bool is_pair = quote == "'" ? text.substr(at, 2) == "''" : text[at] == '\\';
    unit = text.substr(at, is_pair ? 2 : 1);
    if (unit == "\n") {
      ++breaks;
    } else if (unit != quote && unit.find_first_not_of(" \t\r") != std::string_view::npos) {
      breaks = unit == "\\\n" ? 1 : 0;
      kept = is_pair ? 2 : 1;
    }
  }
  return std::max(breaks, kept + 1) - kept - 1;
}

/// Where the text of a scalar begins whose mark is `at`: behind its tag, and behind the line that announces a block.
std::size_t content_begin(std::string_view text, std::size_t at) {
  const auto line_end = [&] { return std::min(text.find('\n', at), text.size()); };
  while (at < text.size() && std::string_view("! \t\r\n#").find(text[at]) != std::string_view::npos) {
    at = text[at] == '#' ? line_end() : at + 1;
  }
  const bool is_block = at < text.size() && (text[at] == '|' || text[at] == '>');
  return is_block ? line_end() : std::min(at, text.size());
}

/// The character beyond U+FFFF that JSON writes as the two escapes at the beginning of `text`; nothing where these are
/// none.
std::optional<std::uint32_t> pair_at(std::string_view text) {
  constexpr std::size_t length = 6;  // a backslash, u and four hexadecimal digits
  std::array<std::uint32_t, 2> halves{};
  for (auto& half : halves) {
    const auto escape = text.substr(0, length);
    const auto* end = escape.data() + escape.size();
    if (escape.size() < length || !escape.starts_with("\\u") ||
        std::from_chars(escape.data() + 2, end, half, 16).ptr != end) {
      return std::nullopt;
    }
    text.remove_prefix(length);
  }
  const bool is_pair = halves[0] >> 10U == 0x36 && halves[1] >> 10U == 0x37;
  return is_pair ? std::optional(0x10000 + ((halves[0] & 0x3FFU) << 10U) + (halves[1] & 0x3FFU)) : std::nullopt;
}

/// What yaml-cpp is given: JSON writes characters beyond U+FFFF as two escapes, whose halves yaml-cpp refuses, and each
/// such pair is one escape here. Only yaml-cpp knows what stands in double quotes, and elsewhere it is no escape.
struct JoinedText {
  std::string text;
  std::map<std::size_t, std::string_view> pairs;  ///< where an escape stands for two, and these

  /// Borrows `original`.
  explicit JoinedText(std::string_view original) {
    std::size_t done = 0;
    for (auto at = original.find('\\'); at != std::string_view::npos; at = original.find('\\', done)) {
      text += original.substr(done, at - done);
      const auto character = pair_at(original.substr(at));
      const auto unit = original.substr(at, character ? 12 : 2);
      if (character) {
        pairs.emplace(text.size(), unit);
        std::ostringstream joined;
        joined << "\\U" << std::hex << std::setw(8) << std::setfill('0') << *character;
        text += joined.str();
      } else {
        text += unit;
      }
      done = at + unit.size();
    }
    text += original.substr(done);
  }

  /// Gives a value that begins at `begin` its pairs back, unless it stands in double quotes.
  void restore(std::string& value, std::size_t begin) const {
    if (pairs.empty() || text.substr(begin, 1) == "\"") {
      return;
    }
    for (auto at = value.find("\\U"); at != std::string::npos; at = value.find("\\U", at + 1)) {
      begin = text.find("\\U", begin);
      if (const auto pair = pairs.find(begin++); pair != pairs.end()) {
        value.replace(at, 10, pair->second);
      }
    }
  }
};

/// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// Borrows the text, which yaml-cpp reads.
  TreeBuilder(const JoinedText& text, std::shared_ptr<const std::string> file, base::Problems& problems,
              const YamlLimits& limits)
      : text_(text), file_(std::move(file)), problems_(problems), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_sharing(mark, "anchors"); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Node node = make(mark, Node::Kind::null);
    if (!frames_.empty() && frames_.back().has_open_key()) {
      node.line = frames_.back().key_line;  // the mark is that of whatever comes next
    }
    take(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse_sharing(mark, "aliases");
    take(make(mark, Node::Kind::broken));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    check_tag(mark, tag);
    Node node = make(mark, Node::Kind::scalar);
    node.style = tag == "!" ? Node::Style::verbatim : Node::Style::plain;
    node.value = value;
    const auto begin = content_begin(text_.text, static_cast<std::size_t>(std::max(mark.pos, 0)));
    node.value.append(lost_breaks(text_.text, begin), '\n');
    text_.restore(node.value, begin);
    if (base::find_control(value, "\n\t\r") != std::string_view::npos || base::find_invalid_utf8(value)) {
      problems_.add(node.place(key()), "a text holds a control character or a broken code point",
                    "labels and prompts are printable UTF-8");
      node.kind = Node::Kind::broken;
    }
    take(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(make(mark, Node::Kind::list));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(make(mark, Node::Kind::map));
  }
  void OnMapEnd() override { close(); }

  Node take_root() { return std::move(root_); }
  [[noreturn]] void stop(int line, std::string_view problem, std::string_view why, std::string_view suggestion = "") {
    problems_.add({*file_, line, key()}, problem, why, suggestion);
    throw Stop{};
  }

 private:
  struct Frame {
    Node node;  ///< a key is open until its value comes; of an empty one that is dropped
    int key_line = 0;
    std::unordered_set<std::string> seen;
    bool has_open_key() const { return node.keys.size() > node.children.size(); }
    bool wants_key() const { return node.kind == Node::Kind::map && !has_open_key(); }
  };

  std::string key() const {
    std::string text;
    for (const auto& frame : frames_) {
      if (frame.node.kind == Node::Kind::list) {
        text += "[" + std::to_string(frame.node.children.size()) + "]";
      } else if (frame.has_open_key()) {
        text += (text.empty() ? "" : ".") + frame.node.keys.back();
      }
    }
    return base::excerpt(text, 200);
  }
  Node make(const YAML::Mark& mark, Node::Kind kind) {
    if (++num_nodes_ > limits_.max_nodes) {
      stop(mark.line + 1, "the document has more than " + base::with_thousands(limits_.max_nodes) + " values",
           "limit of one file", "Put long lists into a tab-separated file (tsv: PATH).");
    }
    Node node(kind);
    node.line = mark.line + 1;
    node.file = file_;
    return node;
  }
  void refuse_sharing(const YAML::Mark& mark, std::string_view what) {
    problems_.add({*file_, mark.line + 1, key()}, std::string(what) + " are not allowed",
                  "a job says every value where it counts",
                  "Write the value out; put a text that begins with '&' or '*' in quotes.");
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && tag != "!" && !tag.empty()) {
      problems_.add({*file_, mark.line + 1, key()}, "tags are not allowed", "'" + base::excerpt(tag, 60) + "'",
                    "Leave it out; put a text that begins with '!' in quotes.");
    }
  }
  void open(Node node) {
    if (!frames_.empty() && frames_.back().wants_key()) {
      stop(node.line, "a key must be one word or text", "here it is " + kind_name(node));
    }
    if (frames_.size() >= limits_.max_depth) {
      stop(node.line, "values are nested deeper than " + std::to_string(limits_.max_depth) + " levels",
           "limit of one file");
    }
    frames_.push_back({std::move(node), 0, {}});
  }
  void close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    take(std::move(node));
  }
  void take(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.wants_key()) {
      take_key(frame, node);
    } else if (frame.has_open_key() && frame.node.keys.back().empty()) {
      frame.node.keys.pop_back();  // its fault is already in the report
    } else {
      frame.node.children.push_back(std::move(node));
    }
  }
  void take_key(Frame& frame, const Node& node) {
    const bool is_broken = node.kind == Node::Kind::broken;
    if (!is_broken && (node.kind != Node::Kind::scalar || node.value.empty())) {
      stop(node.line, "a key must be one word or text", "here it is " + kind_name(node));
    }
    frame.key_line = node.line;
    frame.node.keys.push_back(is_broken ? "" : node.value);
    if (!is_broken && !frame.seen.insert(node.value).second) {
      problems_.add(node.place(key()), "the key '" + base::excerpt(node.value, 60) + "' stands twice",
                    "readers disagree on which one counts", "Remove one.");
      frame.node.keys.back().clear();
    }
  }

  const JoinedText& text_;
  std::shared_ptr<const std::string> file_;
  base::Problems& problems_;
  YamlLimits limits_;
  std::vector<Frame> frames_;
  std::size_t num_nodes_ = 0;
  Node root_;
};

/// The first character of the value in a line "- value", "key: value" or both; 0 where there is none.
char first_of_value(std::string_view line) {
  line = base::trim(line);
  while (line.starts_with("- ")) {
    line = base::trim(line.substr(2));
  }
  if (const auto colon = line.find(": "); colon != std::string_view::npos && line.find_first_of("'\"{[") > colon) {
    line = base::trim(line.substr(colon + 2));
  }
  return line.empty() ? '\0' : line.front();
}

/// Advice where a text without quotes begins with a character that means something else; "" otherwise.
std::string quoting_advice(char first) {
  if (first == '{' || first == '[') {
    return "Put a text that begins with '{' or '[' in quotes.";
  }
  return first != '\0' && std::string_view("*&!%@`,]}").find(first) != std::string_view::npos
             ? "Put a text that begins with '" + std::string(1, first) + "' in quotes."
             : "";
}

/// What a message of yaml-cpp means, by its beginning.
struct Meaning {
  std::string_view message;
  std::string_view problem;
  std::string_view why;
};
constexpr Meaning meanings[] = {
    {"end of map flow", "a '{' is not closed by '}'", "or a ',' is missing between two entries"},
    {"end of sequence flow", "a '[' is not closed by ']'", "or a ',' is missing between two entries"},
    {"end of map", "the line does not fit the mapping above it", "all keys of a mapping begin in the same column"},
    {"end of sequence", "the line does not fit the list above it", "all '-' of a list begin in the same column"},
    {"illegal map value", "a ':' stands where no key can be",
     "a text that holds ': ' needs quotes, and a key is indented like its neighbours"},
    {"illegal map key", "a '?' stands where no key can be", "a text that begins with '?' needs quotes"},
    {"illegal block entry", "a '-' stands where no list can begin", "a list begins on a line of its own"},
    {"illegal flow end", "a '}' or ']' that nothing opened", "a text that begins with it needs quotes"},
    {"illegal document indicator", "a quote is not closed", "the file ends inside it"},
    {"illegal EOF", "a quote is not closed", "the file ends inside it"},
    {"unknown escape", "an unknown escape in double quotes", "single quotes keep a backslash"},
    {"invalid unicode", "an escape in double quotes names no character",
     "half of a pair stands alone, or it is too large"},
};

/// In plain words where the fault is a usual one.
void report_syntax(std::string_view text, const std::string& name, const YAML::Exception& error,
                   base::Problems& problems) {
  const auto lines = base::split(text, '\n');
  const auto at = std::min(static_cast<std::size_t>(std::max(error.mark.line, 0)), lines.size() - 1);
  const auto place = [&](std::size_t line) { return base::Place{name, static_cast<int>(line) + 1, ""}; };
  for (const auto line : {at, at > 0 ? at - 1 : at, std::min(at + 1, lines.size() - 1)}) {
    const auto indent = lines[line].substr(0, lines[line].find_first_not_of(" \t"));
    if (indent.find('\t') != std::string::npos) {
      problems.add(place(line), "a tab in the indentation", "YAML indents with blanks only",
                   "Write blanks in its place.");
      return;
    }
  }
  const auto known = std::find_if(std::begin(meanings), std::end(meanings),
                                  [&](const Meaning& meaning) { return error.msg.starts_with(meaning.message); });
  std::string advice = quoting_advice(first_of_value(lines[at]));
  for (auto line = at; advice.empty() && line-- > 0 && line + 3 > at;) {
    advice = quoting_advice(first_of_value(lines[line]));
  }
  if (known == std::end(meanings)) {
    problems.add(place(at), "no valid YAML", error.msg, advice);
  } else {
    problems.add(place(at), known->problem, known->why, advice);
  }
}

/// What can be said about the bytes before any parser sees them.
bool check_bytes(std::string_view text, const std::string& name, base::Problems& problems, const YamlLimits& limits) {
  const auto line_of = [&](std::size_t offset) {
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  };
  if (text.size() > limits.max_bytes) {
    problems.add({name, 0, ""}, "the file has " + base::with_thousands(text.size()) + " bytes",
                 "limit: " + base::with_thousands(limits.max_bytes));
    return false;
  }
  if (const auto bad = base::find_invalid_utf8(text)) {
    problems.add({name, line_of(*bad), ""}, "invalid UTF-8", "byte " + std::to_string(*bad), "Save the file as UTF-8.");
    return false;
  }
  if (const auto bad = base::find_control(text, "\n\t\r"); bad != std::string_view::npos) {
    const auto length = base::decode_utf8(text, bad)->length;
    problems.add({name, line_of(bad), ""}, "a control character",
                 base::printable(text.substr(bad, length)) + " at byte " + std::to_string(bad));
    return false;
  }
  return true;
}

bool is_plain_key(std::string_view key) {
  return !key.empty() && key != "null" && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

/// Numbers, booleans and names: no text of these signs means something else in some place.
bool is_plain_text(std::string_view text) {
  constexpr std::string_view letters_and_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return text.find_first_of(letters_and_digits) != std::string::npos && text.front() != '*' &&
         text.find_first_not_of(std::string(letters_and_digits) + "_.+-/*") == std::string::npos;
}

std::string scalar(const Node& node) {
  return node.style == Node::Style::plain && is_plain_text(node.value) ? node.value : base::json_quote(node.value);
}

void emit(const Node& node, std::size_t indent, std::string& out);

void emit_child(const Node& child, std::size_t indent, std::string& out) {
  const bool nested = child.kind == Node::Kind::map || child.kind == Node::Kind::list;
  if (!nested || child.children.empty()) {
    out += ' ';
    emit(child, indent, out);
    out += '\n';
  } else {
    out += '\n';
    emit(child, indent, out);
  }
}

void emit(const Node& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (node.kind == Node::Kind::map && !node.children.empty()) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      out += margin + (is_plain_key(node.keys[i]) ? node.keys[i] : base::json_quote(node.keys[i])) + ':';
      emit_child(node.children[i], indent + 2, out);
    }
  } else if (node.kind == Node::Kind::list && !node.children.empty()) {
    for (const auto& child : node.children) {
      out += margin + '-';
      emit_child(child, indent + 2, out);
    }
  } else if (node.kind == Node::Kind::scalar) {
    out += scalar(node);
  } else {
    out += node.kind == Node::Kind::map ? "{}" : node.kind == Node::Kind::list ? "[]" : "null";
  }
}

}  // namespace

Node parse_yaml(std::string_view text, const std::string& name, base::Problems& problems, const YamlLimits& limits) {
  const Node broken(Node::Kind::broken);
  if (!check_bytes(text, name, problems, limits)) {
    return broken;
  }
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  JoinedText parsed(text);
  parsed.text += text.ends_with('\n') ? "...\n" : "\n...\n";  // the end of a file inside quotes is refused
  TreeBuilder builder(parsed, std::make_shared<const std::string>(name), problems, limits);
  try {
    std::istringstream stream(parsed.text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      builder.stop(0, "the file is empty", "a mapping is expected");
    }
    Node root = builder.take_root();
    if (root.kind == Node::Kind::null) {
      builder.stop(0, "the file is empty", "a mapping or a list is expected");
    }
    TreeBuilder second(parsed, std::make_shared<const std::string>(name), problems, limits);
    if (parser.HandleNextDocument(second)) {
      builder.stop(second.take_root().line, "a second document", "one file holds one document",
                   "Remove the line '---' and what follows it.");
    }
    return root;
  } catch (const Stop&) {
    return broken;
  } catch (const YAML::Exception& error) {
    report_syntax(text, name, error, problems);
    return broken;
  }
}

std::string emit_yaml(const Node& node) {
  std::string out;
  emit(node, 0, out);
  return out;
}

}  // namespace stereosweep::config
