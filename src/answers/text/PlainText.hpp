// A sampled answer as plain text and as tokens: what all parsers of answers start from. Pure functions; time grows with
// the length of the text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/Lists.hpp"

namespace stereosweep::answers {

/// Without the signs of markdown and HTML and without <think> sections (one that does not end takes the rest). Dashes,
/// quotation marks, full-width digits and Unicode white space stand as their plain signs; line ends are "\n"; control
/// characters are blanks. The bars of tables stay. Bytes that are no UTF-8 become blanks. No
/// white space at its ends.
std::string plain_text(std::string_view answer);

struct Token {
  enum class Kind : unsigned char { word, number, mark, line_end };
  Kind kind = Kind::mark;
  std::string_view text;      ///< of the lower-case text
  double value = 0;           ///< of a number
  bool is_capital = false;    ///< its first letter
  bool follows_blank = true;  ///< white space or the start of the text before it
  bool is_list_mark = false;  ///< the number of a list's entry: "1.", "(2)", never a value

  bool is(std::string_view other) const { return text == other; }
  bool is_word() const { return kind == Kind::word; }
  bool is_number() const { return kind == Kind::number; }
};

/// ASCII letters, and every byte beyond ASCII.
bool is_letter(char sign);

/// The tokens of a plain text; keeps the lower-case text that they point into.
class TokenizedText {
 public:
  explicit TokenizedText(std::string_view plain);
  TokenizedText(const TokenizedText&) = delete;
  TokenizedText& operator=(const TokenizedText&) = delete;
  ~TokenizedText() = default;
  std::span<const Token> tokens() const { return tokens_; }
  const std::string& lower() const { return lower_; }

 private:
  void find_list_marks();
  void mark_first_before(std::span<const std::size_t> chain);
  void find_marks_in_lines(std::span<const std::size_t> starts, std::span<const std::size_t> chain_lengths);
  std::optional<double> list_mark_at(std::size_t at) const;

  std::string lower_;
  std::vector<Token> tokens_;
};

/// ".", "!", "?", ";" or a line end: what separates sentences.
bool ends_sentence(const Token& token);

/// Sentences with a word; a number with a point is none.
std::size_t count_sentences(std::span<const Token> tokens);

/// What stands between these signs, without white space at its ends; empty parts are kept.
std::vector<std::string_view> parts_between(std::string_view text, std::string_view separators);
/// The same of line ends.
inline std::vector<std::string_view> lines_of(std::string_view plain) { return parts_between(plain, "\n"); }

/// Sentences with the marks that end them; a line end separates them too.
std::vector<std::string_view> sentences_of(std::string_view plain);

/// Blanks before a line of lines_of(plain).
std::size_t indent_of(std::string_view line, std::string_view plain);

/// Whether two words are forms of one: "friendly", "friendliness"; "competent", "competence".
bool is_same_stem(std::string_view left, std::string_view right);

/// The plain text with a line for each mark of a list: "1. warm 2. kind", "(1) warm (2) kind".
std::string with_marks_at_lines(std::string_view plain);

using Words = std::span<const std::string_view>;

/// A text as the argument of a template.
template <std::size_t size>
struct Literal {
  consteval Literal(const char (&given)[size]) { std::copy_n(given, size, text); }  // NOLINT(*-explicit-*)
  char text[size] = {};
};

/// The words of a text with a blank between them: word_list<"kind warm">.
template <Literal literal>
inline constexpr auto word_list = [] {
  constexpr std::string_view text = literal.text;
  std::array<std::string_view, std::ranges::count(text, ' ') + 1> words;
  auto begin = text.begin();  // not find() of the view, which g++ 12 takes for no constant under the sanitizers
  for (auto& word : words) {
    word = {begin, std::find(begin, text.end(), ' ')};
    begin += static_cast<std::ptrdiff_t>(word.size()) + (word.end() != text.end());
  }
  return words;
}();

/// Whether one of the words of a text (lower case) is in a list.
bool has_word(std::string_view lower, Words words);
/// Whether one of the parts stands anywhere in a text.
bool has_part(std::string_view text, Words parts);

/// Tokens by their places; before the first and behind the last one stand empty marks. Keeps the view.
class TokenReader {
 public:
  explicit TokenReader(std::span<const Token> tokens) : tokens_(tokens) {}

 protected:
  bool has(std::size_t at) const { return at < tokens_.size(); }
  const Token& token(std::size_t at) const { return has(at) ? tokens_[at] : nothing; }
  bool is(std::size_t at, std::string_view text) const { return has(at) && tokens_[at].is(text); }
  bool is_any(std::size_t at, Words words) const { return has(at) && base::contains(words, tokens_[at].text); }
  /// Of a line, or of the text.
  bool is_line_end(std::size_t at) const { return !has(at) || tokens_[at].kind == Token::Kind::line_end; }
  /// Whether one of [first, last) is one of the words.
  bool has_any(std::size_t first, std::size_t last, Words words) const;

  std::span<const Token> tokens_;

 private:
  inline static const Token nothing = {};
};

/// What stands at the start of a line: a bullet ("-", "*", "+", a dot) or a number with "." or ")".
struct ListMark {
  enum class Kind : unsigned char { none, bullet, number };
  Kind kind = Kind::none;
  std::string_view rest;  ///< the line behind the mark
};
ListMark list_mark(std::string_view line);

// JSON in an answer as lines of text, so that one set of rules reads lists and JSON.

/// The answer with its JSON object or array, where one begins a line and is whole, as lines: "key: value"; "- value"
/// for each entry of a list; "- name: value" for an object in a list that has a name. Anything else stays as it is.
std::string with_json_as_lines(std::string_view answer);

// Tables in an answer as lines of text, so that one set of rules reads lists and tables.

/// A plain text with its tables (two lines or more with "|") as lines "- name: value - other cells": the name is the
/// first cell with words, the value that of the column whose head says so ("Rating"), else the first one behind the
/// name; cells that count the rows are left out. A head that names what is rated gives lines "name: value", a tick
/// below a number that number. Lines with one "|" alone stay as they are. The text ends with a line end.
std::string with_tables_as_lines(std::string_view plain);

// Whether a text is in the language that the rules know. Pure functions.

enum class Language : std::uint8_t { english, unknown };

/// Whether the word is a frequent English one, or has an English ending.
bool is_frequent(const Token& word);

/// `unknown`: more words of other languages than frequent English ones (words beyond ASCII are such), or five words and
/// no frequent one, or many words with few of them.
Language language_of(std::span<const Token> tokens);

// Names that a question gives (items, options, keywords) in the text of an answer. Pure functions.

/// The words and numbers of each name as one word, lower case: "highstatus".
std::vector<std::string> joined_names(std::span<const std::string> names);

/// How a name may be written: "friendly", or "friendliness" for it.
enum class NameForm : std::uint8_t { exact, same_stem };

/// A name in the text: tokens [first, last).
struct NameMention {
  std::size_t name;  ///< index into the names
  std::size_t first;
  std::size_t last;
};

/// The longest name that begins at `at`, the first one of several. Signs between words do not count: "high-status",
/// "high status" and "highstatus" are one name. `names`: joined.
std::optional<NameMention> name_at(std::span<const Token> tokens, std::size_t at, std::span<const std::string> names,
                                   NameForm form = NameForm::exact);

}  // namespace stereosweep::answers
