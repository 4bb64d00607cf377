#include "results/measures/Glossary.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/Check.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::results {
namespace {

using Terms = std::map<std::pair<std::string_view, std::string_view>, Term>;

/// The next field of `line`, which is taken from it.
std::string_view take_field(std::string_view& line) {
  const auto end = std::min(line.find('\t'), line.size());
  const auto field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

Terms read_terms() {
  Terms terms;
  auto rest = glossary_rows();
  rest.remove_prefix(std::min(rest.find('\n'), rest.size()));  // the names of the columns
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) {
      continue;
    }
    const auto kind = take_field(line);
    const auto name = take_field(line);
    const auto title = take_field(line);
    STEREOSWEEP_ASSERT(!line.empty(), "a row of the glossary lacks a field");
    terms[{kind, name}] = {title, line};
  }
  return terms;
}

}  // namespace

std::optional<Term> find_term(std::string_view kind, std::string_view name) {
  static const Terms terms = read_terms();
  const auto found = terms.find({kind, name});
  return found == terms.end() ? std::nullopt : std::optional(found->second);
}

std::string definitions_text(std::span<const std::string> measures) {
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
  for (const std::string unit : {"nat", "bit"}) {
    const auto is_said = [&](const char* mark) { return text.find(" " + unit + mark) != std::string::npos; };
    if (const auto term = find_term("term", unit); term && (is_said(".") || is_said(";"))) {
      text += wrapped(unit + ": " + std::string(term->definition) + "\n", 2);
    }
  }
  return text;
}

}  // namespace stereosweep::results
