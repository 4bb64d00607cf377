#include <algorithm>
#include <utility>

#include "answers/text/PlainText.hpp"
#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

constexpr std::string_view blanks = " \t\r\n";
/// Ends a key; the key's place follows.
constexpr char key_end = '\x1f';

/// The quoted text that begins at `at`, which goes behind it, as JSON has it: in "..." and in one line.
std::string quoted_text(std::string_view text, std::size_t& at) {
  const char quote = text[at++];
  std::string inner;
  for (; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      inner += text[at + 1] == '\'' ? "" : "\\";
      inner += text[++at];
    } else {
      inner += text[at] == '"' ? "\\\"" : text[at] == '\n' ? " " : std::string(1, text[at]);
    }
  }
  at = std::min(at + 1, text.size());
  return '"' + inner + '"';
}

/// JSON as models write it, and where it ends: with quotation marks of both kinds, a comma before a closing bracket,
/// and cut off. Nothing: what begins here are brackets of plain text.
std::optional<std::pair<Json, std::size_t>> read_json(std::string_view text, std::size_t at) {
  constexpr std::size_t deepest = 30;
  std::string json;
  std::string closing;                             // brackets that are still to come, the last one first
  std::pair<std::size_t, std::string> last_comma;  // its place, and the brackets that are to come there
  do {
    const char sign = text[at];
    if (sign == '"' || sign == '\'') {
      json += quoted_text(text, at);
      const auto next = text.find_first_not_of(blanks, at);
      if (next < text.size() && text[next] == ':') {
        json.insert(json.size() - 1, "\\u001f" + std::to_string(json.size()));  // a key may stand twice
      }
      continue;
    }
    if (sign == '{' || sign == '[') {
      closing.insert(closing.begin(), sign == '{' ? '}' : ']');
    } else if (sign == ',') {
      last_comma = {json.size(), closing};
    } else if (sign == closing.front()) {
      json.erase(json.find_last_not_of(", \t\r\n") + 1);
      closing.erase(0, 1);
    }
    json += sign;
    ++at;
  } while (at < text.size() && !closing.empty() && closing.size() <= deepest);
  for (const auto& one : {json + closing, json.substr(0, closing.empty() ? 0 : last_comma.first) + last_comma.second}) {
    try {
      return std::pair(base::parse_json(one, "answer"), at);
    } catch (const base::InputError&) {
      continue;  // a member that was cut off
    }
  }
  return std::nullopt;
}

/// A value with its key in an object; "" in a list.
struct Member {
  std::string key;
  Json value;

  /// Of a number, a word or a text.
  std::string text() const { return value.is_string() ? value.get<std::string>() : value.dump(); }
  bool is_number() const {
    return !value.is_structured() && !text().empty() && text().find_first_not_of("-+0123456789. ") == std::string::npos;
  }
};

std::vector<Member> members_of(const Json& whole) {
  std::vector<Member> members;
  for (const auto& [key, value] : whole.items()) {
    members.push_back({whole.is_object() ? key.substr(0, key.find(key_end)) : "", value});
  }
  return members;
}

constexpr auto answer_keys = word_list<"rating score answer value response ratings scores">;
constexpr auto name_keys = word_list<"trait item name keyword word label adjective attribute emotion characteristic">;
constexpr auto explaining_keys = word_list<
    "reason reasons why explanation reasoning comment justification note notes rationale text description answer "
    "response">;
/// What is told of a rating beside its value: by the last word of the key.
constexpr auto other_keys = word_list<
    "scale min max minimum maximum count id year rank total index n range confidence step date age version low high "
    "size">;

bool is_key(const Member& part, Words keys) { return base::contains(keys, base::lower_ascii(part.key)); }

bool is_other(const Member& part) {
  const auto words = parts_between(part.key, "_- .");
  return std::ranges::any_of(
             words, [](std::string_view word) { return base::contains(Words(other_keys), base::lower_ascii(word)); }) &&
         !is_key(part, answer_keys);
}

/// The member that names what an object is about: "trait", else a first short text; nothing: there is none.
const Member* name_of(const std::vector<Member>& members) {
  constexpr std::size_t longest = 40;
  const auto is_short = [](const Member& one) {
    return !one.value.is_structured() && !one.is_number() && one.text().size() <= longest &&
           !is_key(one, explaining_keys) && !is_key(one, answer_keys);
  };
  const auto named =
      std::ranges::find_if(members, [&](const Member& one) { return is_short(one) && is_key(one, name_keys); });
  const auto first = named != members.end() ? named : std::ranges::find_if(members, is_short);
  return first == members.end() ? nullptr : &*first;
}

/// A key's digits count keys ("trait_2"); a key of digits is a number of a list.
std::string key_text(const Member& part) {
  const auto key = base::replace_all(part.key, "\n", " ");
  const auto last = key.find_last_not_of("0123456789");
  return last == std::string::npos ? key + "." : key.substr(0, key.find_last_not_of("_ 0123456789") + 1) + ":";
}

/// Of an object or a list; one without a key is the entry of a list.
void append_lines(std::string& lines, const Member& whole) {
  const auto members = members_of(whole.value);
  const auto is_answer = [](const Member& one) { return is_key(one, answer_keys); };
  const bool has_answer = std::ranges::any_of(members, is_answer);
  const auto* name = name_of(members);
  // The value of "- name: value".
  const auto value = std::ranges::find_if(members, [&](const Member& one) {
    return &one != name && !one.value.is_structured() && !is_other(one) && (!has_answer || is_answer(one));
  });
  const bool has_value = value != members.end();
  const bool is_named =
      name != nullptr && !name->key.empty() && (is_key(*name, name_keys) || (whole.key.empty() && has_value));
  if (is_named) {
    lines += "- " + name->text() + ":" + (has_value ? " " + value->text() : "") + "\n";
  }
  for (const auto& one : members) {
    const bool is_written = is_named && (&one == name || (has_value && &one == &*value));
    const auto inner = one.value.is_structured() ? members_of(one.value) : std::vector<Member>{one};
    const bool holds_numbers = !inner.empty() && inner.front().is_number();
    const bool is_beside = is_other(one) || (has_answer && holds_numbers && !is_answer(one));
    if (is_written || is_beside) {
      continue;
    }
    const auto start = one.key.empty() ? std::string("-") : key_text(one);
    if (!one.value.is_structured()) {
      lines += start + " " + one.text() + "\n";
      continue;
    }
    lines += one.key.empty() ? "" : start + "\n";
    append_lines(lines, one);
  }
}

/// Where an object begins ("{" before a quotation mark), or a line with an array.
std::optional<std::size_t> find_json(std::string_view text) {
  bool is_start = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto next = text[at] == '{' ? text.find_first_not_of(blanks, at + 1) : std::string_view::npos;
    const bool opens = next != std::string_view::npos && (text[next] == '"' || text[next] == '\'');
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
  const auto json = read_json(answer, *begin);
  const auto behind = json ? answer.find_first_not_of(" \t", json->second) : std::string_view::npos;
  const bool is_mark = answer[*begin] == '[' && behind < answer.size() && is_letter(answer[behind]);  // "[4] warm"
  if (!json || json->first.empty() || is_mark) {
    return std::string(answer);
  }
  std::string text(answer.substr(0, *begin));
  append_lines(text, {"answer", json->first});
  return text + std::string(answer.substr(json->second));
}

}  // namespace stereosweep::answers
