#include "results/measures/Glossary.hpp"

#include <cctype>
#include <map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::results {
namespace {

using Terms = std::map<std::pair<std::string_view, std::string_view>, Term>;

/// What stands before the next `end` in `text`, from which both are taken.
std::string_view take(std::string_view& text, char end) {
  const auto place = std::min(text.find(end), text.size());
  const auto part = text.substr(0, place);
  text.remove_prefix(std::min(place + 1, text.size()));
  return part;
}

Terms read_terms() {
  Terms terms;
  auto rest = glossary_rows();
  take(rest, '\n');  // the names of the columns
  while (!rest.empty()) {
    auto line = take(rest, '\n');
    const auto kind = take(line, '\t');
    const auto name = take(line, '\t');
    const auto title = take(line, '\t');
    STEREOSWEEP_ASSERT(!line.empty(), "a row of the glossary lacks a field");
    terms[{kind, name}] = {title, line};
  }
  return terms;
}

const Terms& all_terms() {
  static const Terms terms = read_terms();
  return terms;
}

/// Whether the text holds the word, alone or in the plural.
bool is_said(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(end + (text.substr(end).starts_with('s') ? 1 : 0))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Term> find_term(std::string_view kind, std::string_view name) {
  const auto found = all_terms().find({kind, name});
  return found == all_terms().end() ? std::nullopt : std::optional(found->second);
}

std::string in_words(const std::string& label) {
  const auto names = base::split(label, ' ');
  const auto first = find_term("measure", names.front());
  const auto second = find_term("measure", names.back());
  if (!first || !second || names.size() > 2) {
    return base::replace_all(label, "_", " ");
  }
  return std::string(first->title) + (names.size() < 2 ? "" : " (" + std::string(second->title) + ")");
}

std::string definitions_text(std::span<const std::string> measures, const std::string& said) {
  std::string text;
  std::vector<std::string> told;
  for (const auto& measure : measures) {
    for (const auto& word : base::split(measure, ' ')) {
      const auto term = find_term("measure", word);
      if (term && !base::contains(told, word)) {
        told.push_back(word);
        text += wrapped(word + ": " + std::string(term->definition) + "\n", 2);
      }
    }
  }
  std::string more;
  for (const auto& [key, term] : all_terms()) {
    const auto& [kind, name] = key;
    const bool is_unit = name == "nat" || name == "bit";
    if (kind == "term" && (is_said(said, name) || (is_unit && is_said(text, name)))) {
      more += wrapped(std::string(name) + ": " + std::string(term.definition) + "\n", 2);
    }
  }
  return text + more;
}

}  // namespace stereosweep::results
