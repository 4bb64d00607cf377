// What a text is searched for: characters of a class, a literal text, a regular expression, GPT-2's words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/Field.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

/// A part of the text that is a match or lies between matches.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_match = false;
};

class Pattern {
 public:
  virtual ~Pattern() = default;
  /// Appends parts that cover `text` in order; an empty text has one empty part.
  virtual void find(std::string_view text, std::vector<Match>& parts) const = 0;
};

std::unique_ptr<Pattern> make_class_pattern(Classes wanted);
std::unique_ptr<Pattern> make_literal(std::string literal);
/// Runs of word characters, and runs of what is neither word character nor white space.
std::unique_ptr<Pattern> make_words();
/// The words of GPT-2's regular expression, scanned by hand (no backtracking, linear time).
std::unique_ptr<Pattern> make_gpt2_words();
extern const std::string_view gpt2_expression;
/// A regular expression, matched as Hugging Face's tokenizers does (Oniguruma, its default syntax).
/// Throws InputError (of `place`) for an expression that does not compile; `find` throws Error at its limits.
std::unique_ptr<Pattern> make_regex(const std::string& expression, const Field& place);
/// The same for expressions of the usual kind, compiled for the processor (PCRE2): alternatives, sequences, groups that
/// may be optional, sets of characters with greedy counts, "$", and one set to look ahead at. Null for every other one,
/// and where a match could be empty. Throws InputError for expressions that Oniguruma refuses.
std::unique_ptr<Pattern> make_compiled_regex(const std::string& expression, const Field& place);
/// {"String": literal} or {"Regex": expression}.
std::unique_ptr<Pattern> read_pattern(const Field& field);

}  // namespace stereosweep::tokenizer
