#include "results/measures/Glossary.hpp"

#include <cctype>
#include <map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::results {
namespace {

using Terms = std::map<std::pair<std::string, std::string>, Term>;  // by kind and name

Terms read_terms() {
  Terms terms;
  const auto lines = base::split(base::trim(glossary_rows()), '\n');
  for (const auto& line : std::span(lines).subspan(1)) {  // behind the names of the columns
    const auto fields = base::split(line, '\t');
    STEREOSWEEP_ASSERT(fields.size() == 4, "a row of the glossary has other fields");
    terms[{fields[0], fields[1]}] = {fields[2], fields[3]};
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

const Term* find_term(const std::string& kind, const std::string& name) {
  const auto found = all_terms().find({kind, name});
  return found == all_terms().end() ? nullptr : &found->second;
}

std::string in_words(const std::string& label) {
  const auto names = base::split(label, ' ');
  const auto* first = find_term("measure", names.front());
  const auto* second = find_term("measure", names.back());
  if (first == nullptr || second == nullptr || names.size() > 2) {
    return base::replace_all(label, "_", " ");
  }
  return first->title + (names.size() < 2 ? "" : " (" + second->title + ")");
}

std::string definitions_text(std::span<const std::string> measures, const std::string& said) {
  std::string text;
  std::vector<std::string> told;
  for (const auto& measure : measures) {
    for (const auto& word : base::split(measure, ' ')) {
      const auto* term = find_term("measure", word);
      if (term != nullptr && !base::contains(told, word)) {
        told.push_back(word);
        text += wrapped(word + ": " + term->definition + "\n", 2);
      }
    }
  }
  std::string more;
  for (const auto& [key, term] : all_terms()) {
    const auto& [kind, name] = key;
    const bool is_unit = name == "nat" || name == "bit";
    if (kind == "term" && (is_said(said, name) || (is_unit && is_said(text, name)))) {
      more += wrapped(name + ": " + term.definition + "\n", 2);
    }
  }
  return text + more;
}

}  // namespace stereosweep::results
