#include "corpus/Matcher.hpp"

#include <set>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "corpus/Characters.hpp"

namespace stereosweep::corpus {
namespace {

using Boundary = domain::Corpus::Boundary;
using Case = domain::Corpus::Case;

std::string_view fault_of(const std::string& word) {
  if (word.empty()) {
    return "it is empty";
  }
  if (base::find_invalid_utf8(word)) {
    return "it is not valid UTF-8";
  }
  bool after_blank = true;
  for (const char c : word) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return "it has a control character";
    }
    if (c == ' ' && after_blank) {
      return "it begins with a blank, or has two beside each other";
    }
    after_blank = c == ' ';
  }
  return after_blank ? "it ends with a blank" : "";
}

void check(std::span<const std::string> words) {
  base::Problems problems;
  std::set<std::string_view> known;
  for (const auto& word : words) {
    if (const auto fault = fault_of(word); !fault.empty()) {
      problems.add({}, "cannot look for " + base::json_quote(word), fault);
    } else if (!known.insert(word).second) {
      problems.add({}, "cannot look for " + base::json_quote(word), "it is wanted twice");
    }
  }
  problems.raise_if_any("the corpus cannot be searched");
}

}  // namespace

Matcher::Matcher(std::span<const std::string> words, Boundary boundary, Case letter_case)
    : boundary_(boundary), case_(letter_case), by_first_(256) {
  check(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    Pattern pattern{i, {}};
    for (std::size_t at = 0; at < words[i].size();) {
      pattern.text += normal(next_character(words[i], at));
    }
    by_first_[pattern.text.front() & 0xFF].push_back(std::move(pattern));
  }
}

char32_t Matcher::normal(char32_t character) const { return case_ == Case::ignore ? fold(character) : character; }

bool Matcher::ends_at(std::string_view line, std::size_t begin, const Pattern& pattern, std::size_t& end) const {
  end = begin;
  for (const char32_t wanted : pattern.text) {
    if (end == line.size()) {
      return false;
    }
    const bool run = wanted == ' ' && boundary_ == Boundary::word;
    const auto found = next_character(line, end);
    if (run ? kind_of(found) != Kind::white_space : normal(found) != wanted) {
      return false;
    }
    while (run && end < line.size() && kind_of(character_at(line, end)) == Kind::white_space) {
      next_character(line, end);
    }
  }
  return true;
}

bool Matcher::is_bounded(std::string_view line, std::size_t begin, std::size_t end) const {
  if (boundary_ == Boundary::blanks) {
    return begin > 0 && line[begin - 1] == ' ' && end < line.size() && line[end] == ' ';
  }
  return (begin == 0 || kind_of(character_at(line, previous_character(line, begin))) != Kind::word) &&
         (end == line.size() || kind_of(character_at(line, end)) != Kind::word);
}

void Matcher::find(std::string_view line, std::vector<Hit>& hits) const {
  std::set<std::size_t> found;
  for (std::size_t at = 0; at < line.size();) {
    const auto begin = at;
    for (const auto& pattern : by_first_[normal(next_character(line, at)) & 0xFF]) {
      std::size_t end = 0;
      if (ends_at(line, begin, pattern, end) && is_bounded(line, begin, end) &&
          (boundary_ == Boundary::word || found.insert(pattern.word).second)) {
        hits.push_back({pattern.word, begin, end});
      }
    }
  }
}

}  // namespace stereosweep::corpus
