// What a text is searched for: characters of a class, a literal text, a regular expression.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/JsonValue.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

/// A part of the text that is a match or lies between matches.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_match = false;
};

/// Appends parts that cover `text` in order; an empty text has one empty part.
using Pattern = std::function<void(std::string_view text, std::vector<Match>& parts)>;

Pattern make_class_pattern(Classes wanted);
Pattern make_literal(const std::string& literal);
/// A regular expression, matched as Hugging Face's tokenizers does (Oniguruma, its default syntax).
/// Throws InputError (of `place`) for an expression that does not compile; the pattern throws Error at its limits.
Pattern make_regex(const std::string& expression, const base::JsonValue& place);
/// The same for expressions of the usual kind, compiled for the processor (PCRE2): alternatives, sequences, groups that
/// may be optional, sets of characters with greedy counts, "$", and one set to look ahead at. Empty for every other
/// one, and where a match could be empty. Throws InputError for expressions that Oniguruma refuses.
Pattern make_compiled_regex(const std::string& expression, const base::JsonValue& place);
/// Compiled where it is of the usual kind.
Pattern make_expression(const std::string& expression, const base::JsonValue& place);
/// The words of GPT-2.
constexpr auto gpt2_words = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// {"String": literal} or {"Regex": expression}.
Pattern read_pattern(const base::JsonValue& field);

}  // namespace stereosweep::tokenizer
