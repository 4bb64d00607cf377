// Finds the wanted words in text, all at once.
//
// Boundary `word`: the characters beside an occurrence are no letters, marks or decimal digits (Unicode); a blank of
// the wanted word stands for one run of white space. Boundary `blanks`: one blank on both sides, as the published code
// has it, and a blank of the wanted word stands for itself. Case `ignore` compares after simple case folding. Words and
// text are compared in one spelling (normal_form), boundaries included.
//
// How: a word's first run of letters, marks and digits must be such a run of the text, too. So the runs of the text
// are looked up in a table, and where one is known its words are compared character by character.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/Characters.hpp"
#include "corpus/Corpus.hpp"
#include "corpus/WordRuns.hpp"

namespace stereosweep::corpus {

/// One occurrence: bytes [begin, end) of the text.
struct Hit {
  std::size_t word = 0;  ///< index among the wanted words
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Hit&) const = default;
};

/// lines: no occurrence goes over a line feed. sentence: a line feed is white space as any other.
enum class Scope { lines, sentence };

/// Why a word cannot be looked for: "it is empty"; "" where it can.
std::string_view fault_of(const std::string& word);

class Matcher {
 public:
  /// Throws InputError with every word that cannot be looked for: empty, wanted twice, not valid UTF-8, with a control
  /// character or white space that is no blank, with a blank at its ends or two beside each other.
  Matcher(std::span<const std::string> words, Corpus::Boundary boundary, Corpus::Case letter_case);
  /// Every occurrence, ascending by begin, then word; valid until the next call. In a line with `invalid` bytes they
  /// mean nothing.
  const std::vector<Hit>& find(std::string_view text, Scope scope);
  /// Of the last text: offsets, ascending, of bytes that are no UTF-8, and of NULs.
  const std::vector<std::size_t>& invalid() const { return masks_.invalid(); }

 private:
  struct Pattern {
    std::size_t word = 0;
    std::u32string text;     // in normal form, folded where case is ignored
    std::size_t prefix = 0;  // characters before the first run
  };
  void add_pattern(std::size_t word, std::string_view text);
  void search(std::string_view text, const WordMasks& masks);
  void look_up(std::string_view text, std::size_t begin, TokenKey key);
  TokenKey folded_key_of(std::string_view text, std::size_t begin, std::size_t end) const;
  void find_without_run(std::string_view text, const Pattern& pattern);
  void compare(std::string_view text, std::size_t begin, const Pattern& pattern);
  bool starts_at(std::string_view text, std::size_t& begin, const Pattern& pattern) const;
  bool ends_at(std::string_view text, std::size_t begin, const Pattern& pattern, std::size_t& end) const;
  bool is_bounded(std::string_view text, std::size_t begin, std::size_t end) const;
  char32_t normal(char32_t character) const;
  bool is_space(char32_t character) const;

  Corpus::Boundary boundary_;
  Corpus::Case case_;
  Scope scope_ = Scope::sentence;
  std::vector<Pattern> patterns_;
  std::vector<std::size_t> without_run_;  // patterns with no letter, mark or digit: looked for one by one
  std::span<const char32_t> foldings_ = foldings();
  TokenTable table_;
  WordMasks masks_, normal_masks_;
  std::vector<std::size_t> places_;
  std::vector<Hit> hits_;
};

}  // namespace stereosweep::corpus
