#include "answers/text/JsonText.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "answers/text/PlainText.hpp"
#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

/// A value of JSON with its key in an object.
struct JsonPart {
  std::string key;
  std::string scalar;
  bool is_structured = false;
  std::vector<JsonPart> members;

  bool is_number() const {
    return !is_structured && !scalar.empty() && scalar.find_first_not_of("-+0123456789. ") == std::string::npos;
  }
};

/// Reads JSON as models write it: a text that was cut off, a comma before a closing bracket, a key that stands twice.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t end() const { return at_; }

  /// Nothing: what stands here are brackets of plain text.
  std::optional<JsonPart> read() {
    JsonPart whole;
    const bool is_object = text_[at_] == '{';
    const bool is_whole = read_structure(whole, 0);
    const bool is_json = !whole.members.empty() && (is_whole || is_object) && !is_too_deep_;
    return is_json ? std::optional(std::move(whole)) : std::nullopt;
  }

 private:
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  static bool is_quote(char sign) { return sign == '"' || sign == '\''; }

  std::string read_quoted() {
    const auto first = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      at_ += text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, text_.size());
    const auto inner = text_.substr(first + 1, at_ - first - 1);
    at_ = std::min(at_ + 1, text_.size());
    const auto whole = "\"" + std::string(inner) + "\"";
    try {
      return base::replace_all(base::parse_json(whole, "answer").get<std::string>(), "\n", " ");
    } catch (const base::InputError&) {
      return base::replace_all(std::string(inner), "\n", " ");
    }
  }

  /// Whether the value is well formed or ends with the text.
  bool read_value(JsonPart& part, int depth) {
    const char sign = next();
    if (sign == '{' || sign == '[') {
      return read_structure(part, depth);
    }
    if (is_quote(sign)) {
      part.scalar = read_quoted();
      return true;
    }
    const auto last = std::min(text_.find_first_of(",}]\n", at_), text_.size());
    part.scalar = base::trim(text_.substr(at_, last - at_));
    at_ = last;
    return part.is_number() || part.scalar == "true" || part.scalar == "false" || part.scalar == "null";
  }

  bool read_structure(JsonPart& whole, int depth) {
    constexpr int deepest = 30;
    whole.is_structured = true;
    is_too_deep_ = is_too_deep_ || depth > deepest;
    const bool is_object = text_[at_] == '{';
    const char close = is_object ? '}' : ']';
    ++at_;
    while (next() != close) {
      if (at_ >= text_.size() || is_too_deep_) {
        return !is_too_deep_;
      }
      JsonPart member;
      if (is_object) {
        if (!is_quote(text_[at_])) {
          return false;
        }
        member.key = read_quoted();
        if (next() != ':') {
          return at_ >= text_.size();
        }
        ++at_;
      }
      const bool is_good = read_value(member, depth + 1);
      const bool is_there = member.is_structured || !member.scalar.empty();
      if (is_there && (is_good || is_object)) {
        whole.members.push_back(std::move(member));
      }
      if (!is_good) {
        return false;
      }
      at_ += next() == ',' ? 1 : 0;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  bool is_too_deep_ = false;
};

constexpr std::string_view answer_keys[] = {"rating", "score", "answer", "value", "response", "ratings", "scores"};
constexpr std::string_view name_keys[] = {"trait", "item",      "name",      "keyword", "word",
                                          "label", "adjective", "attribute", "emotion", "characteristic"};
constexpr std::string_view explaining_keys[] = {"reason",  "reasons",       "why",    "explanation", "reasoning",
                                                "comment", "justification", "note",   "notes",       "rationale",
                                                "text",    "description",   "answer", "response"};
/// What is told of a rating beside its value: by the last word of the key.
constexpr std::string_view other_keys[] = {"scale", "min",  "max",   "minimum", "maximum", "count", "id",
                                           "year",  "rank", "total", "index",   "n",       "range", "confidence",
                                           "step",  "date", "age",   "version", "low",     "high",  "size"};

bool is_key(const JsonPart& part, Words keys) { return base::contains(keys, base::lower_ascii(part.key)); }

bool is_other(const JsonPart& part) {
  const auto words = parts_between(part.key, "_- .");
  return std::ranges::any_of(
             words, [](std::string_view word) { return base::contains(Words(other_keys), base::lower_ascii(word)); }) &&
         !is_key(part, answer_keys);
}

/// The member that names what an object is about: "trait", else a first short text; nothing: there is none.
const JsonPart* name_of(const JsonPart& object) {
  constexpr std::size_t longest = 40;
  const auto is_short = [](const JsonPart& one) {
    return !one.is_structured && !one.is_number() && one.scalar.size() <= longest && !is_key(one, explaining_keys) &&
           !is_key(one, answer_keys);
  };
  const auto named = std::ranges::find_if(object.members,
                                          [&](const JsonPart& one) { return is_short(one) && is_key(one, name_keys); });
  const auto first = named != object.members.end() ? named : std::ranges::find_if(object.members, is_short);
  return first == object.members.end() ? nullptr : &*first;
}

/// A key's digits count keys ("trait_2"); a key of digits is a number of a list.
std::string key_text(const JsonPart& part) {
  const auto key = base::replace_all(part.key, "\n", " ");
  const auto last = key.find_last_not_of("0123456789");
  return last == std::string::npos ? key + "." : key.substr(0, key.find_last_not_of("_ 0123456789") + 1) + ":";
}

/// What a list of objects holds, or an object at the top.
enum class Place : std::uint8_t { top, entry, member };

void append_lines(std::string& lines, const JsonPart& whole, Place place) {
  const auto is_answer = [](const JsonPart& one) { return is_key(one, answer_keys); };
  const bool has_answer = std::ranges::any_of(whole.members, is_answer);
  const auto* name = name_of(whole);
  // The value of "- name: value".
  const auto value = std::ranges::find_if(whole.members, [&](const JsonPart& one) {
    return &one != name && !one.is_structured && !is_other(one) && (!has_answer || is_answer(one));
  });
  const bool has_value = value != whole.members.end();
  const bool is_named =
      name != nullptr && !name->key.empty() && (is_key(*name, name_keys) || (place == Place::entry && has_value));
  if (is_named) {
    lines += "- " + name->scalar + ":" + (has_value ? " " + value->scalar : "") + "\n";
  }
  for (const auto& one : whole.members) {
    const bool is_written = is_named && (&one == name || (has_value && &one == &*value));
    const bool holds_numbers = one.is_number() || (!one.members.empty() && one.members.front().is_number());
    const bool is_beside = is_other(one) || (has_answer && holds_numbers && !is_answer(one));
    if (is_written || is_beside) {
      continue;
    }
    const auto start = one.key.empty() ? std::string("-") : key_text(one);
    if (!one.is_structured) {
      lines += start + " " + one.scalar + "\n";
      continue;
    }
    lines += one.key.empty() ? "" : start + "\n";
    append_lines(lines, one, one.key.empty() ? Place::entry : Place::member);
  }
}

/// Where an object begins ("{" before a quotation mark), or a line with an array.
std::optional<std::size_t> find_json(std::string_view text) {
  bool is_start = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto next = text.find_first_not_of(" \t\r\n", at + 1);
    const bool opens = text[at] == '{' && next != std::string_view::npos && (text[next] == '"' || text[next] == '\'');
    if (opens || (is_start && text[at] == '[')) {
      return at;
    }
    is_start = text[at] == '\n' || (is_start && (text[at] == ' ' || text[at] == '\t'));
  }
  return std::nullopt;
}

}  // namespace

std::string with_json_as_lines(std::string_view answer) {
  constexpr std::size_t longest = std::size_t{1} << 20;  // bytes; more is no answer
  const auto begin = find_json(answer);
  if (!begin || answer.size() > longest) {
    return std::string(answer);
  }
  JsonReader reader(answer, *begin);
  const auto json = reader.read();
  if (!json) {
    return std::string(answer);  // brackets of plain text
  }
  std::string text(answer.substr(0, *begin));
  append_lines(text, *json, Place::top);
  return text + std::string(answer.substr(reader.end()));
}

}  // namespace stereosweep::answers
