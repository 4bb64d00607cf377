// Finds the wanted words in a line of text, all at once.
//
// Boundary `word`: the characters beside an occurrence are no letters, marks or decimal digits (Unicode), and every
// occurrence counts; a blank of the wanted word stands for one run of white space. Boundary `blanks`, the rule of the
// published code: " word " as it stands, so that the first and last word of a line are missed, and only its first
// occurrence in a line counts. Case `ignore` compares characters after simple case folding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/Contexts.hpp"

namespace stereosweep::corpus {

/// One occurrence: bytes [begin, end) of the line.
struct Hit {
  std::size_t word = 0;  ///< index among the wanted words
  std::size_t begin = 0;
  std::size_t end = 0;
  auto operator<=>(const Hit&) const = default;
};

class Matcher {
 public:
  /// Throws InputError with every word that cannot be looked for: empty, wanted twice, not valid UTF-8, with a control
  /// character, with a blank at its ends or two beside each other.
  Matcher(std::span<const std::string> words, domain::Corpus::Boundary boundary, domain::Corpus::Case letter_case);
  /// Appends the occurrences in valid UTF-8, ascending by begin.
  void find(std::string_view line, std::vector<Hit>& hits) const;

 private:
  struct Pattern {
    std::size_t word = 0;
    std::u32string text;
  };
  bool ends_at(std::string_view line, std::size_t begin, const Pattern& pattern, std::size_t& end) const;
  bool is_bounded(std::string_view line, std::size_t begin, std::size_t end) const;
  char32_t normal(char32_t character) const;

  domain::Corpus::Boundary boundary_;
  domain::Corpus::Case case_;
  std::vector<std::vector<Pattern>> by_first_;  // low byte of the first character
};

}  // namespace stereosweep::corpus
