#include "answers/text/JsonText.hpp"

#include <algorithm>
#include <optional>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

std::string scalar_text(const Json& value) {
  return base::replace_all(value.is_string() ? value.get<std::string>() : value.dump(), "\n", " ");
}

void append_member(std::string& lines, const std::string& key, const Json& value);

void append_lines(std::string& lines, const Json& value) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      append_member(lines, key, member);
    }
    return;
  }
  for (const auto& entry : value) {
    const auto is_name = [](const Json& member) {
      constexpr std::size_t longest = 40;
      return member.is_string() && member.get_ref<const std::string&>().size() <= longest;
    };
    const auto name = entry.is_object() ? std::find_if(entry.begin(), entry.end(), is_name) : entry.end();
    if (!entry.is_structured()) {
      lines += "- " + scalar_text(entry) + "\n";
    } else if (name == entry.end()) {
      append_lines(lines, entry);
    } else {
      auto rest = entry;
      rest.erase(name.key());
      const bool is_single = !rest.empty() && !rest.front().is_structured();
      lines += "- " + scalar_text(*name) + (is_single ? ": " + scalar_text(rest.front()) : ":") + "\n";
      if (is_single) {
        rest.erase(rest.begin());
      }
      append_lines(lines, rest);
    }
  }
}

void append_member(std::string& lines, const std::string& key, const Json& value) {
  const auto name = base::replace_all(key, "\n", " ");
  if (value.is_structured()) {
    lines += name + ":\n";
    append_lines(lines, value);
  } else {
    lines += name + ": " + scalar_text(value) + "\n";
  }
}

/// Where a line begins with one of two signs, behind blanks.
std::optional<std::size_t> find_line_start(std::string_view text) {
  bool is_start = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_start && (text[at] == '{' || text[at] == '[')) {
      return at;
    }
    is_start = text[at] == '\n' || (is_start && (text[at] == ' ' || text[at] == '\t'));
  }
  return std::nullopt;
}

}  // namespace

std::string with_json_as_lines(std::string_view answer) {
  constexpr std::size_t longest = std::size_t{1} << 20;  // bytes; more is no answer
  const auto begin = find_line_start(answer);
  const auto end = begin ? answer.find_last_of("}]") : std::string_view::npos;
  if (end == std::string_view::npos || end < *begin || end - *begin > longest) {
    return std::string(answer);
  }
  try {
    const auto json = base::parse_json(answer.substr(*begin, end + 1 - *begin), "answer");
    std::string text(answer.substr(0, *begin));
    append_lines(text, json);
    return text + std::string(answer.substr(end + 1));
  } catch (const base::InputError&) {
    return std::string(answer);  // brackets of plain text
  }
}

}  // namespace stereosweep::answers
