// What single code points are and become, exactly as in Hugging Face's tokenizers 0.23 (whose parts use tables of
// Unicode 8.0, 9.0 and newer: a Unicode library of one version is wrong for some of them).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/Utf8.hpp"

namespace stereosweep::tokenizer {

/// Bits of `classes_of`.
using Classes = std::uint32_t;
namespace classes {
constexpr Classes white_space = 1;               ///< Rust's char::is_whitespace
constexpr Classes punctuation = 1 << 1;          ///< BERT's: ASCII punctuation or category P of Unicode 8.0
constexpr Classes removed_by_cleaning = 1 << 2;  ///< BertNormalizer's clean_text drops it
constexpr Classes cleaned_to_space = 1 << 3;     ///< BertNormalizer's clean_text makes it a space
constexpr Classes nonspacing_mark = 1 << 4;      ///< category Mn of Unicode 8.0
constexpr Classes chinese = 1 << 5;              ///< BertNormalizer puts spaces around it
constexpr Classes combining_mark = 1 << 6;       ///< StripAccents drops it
constexpr Classes numeric = 1 << 7;              ///< Rust's char::is_numeric
constexpr Classes word = 1 << 8;                 ///< \w of added tokens and of the Whitespace pre-tokenizer
constexpr Classes has_lowercase = 1 << 9;        ///< Lowercase changes it
constexpr Classes has_canonical = 1 << 10;       ///< it has a canonical decomposition
constexpr Classes has_compatible = 1 << 11;      ///< its compatible decomposition is another one
constexpr Classes reordered = 1 << 12;           ///< combining class is not zero
constexpr Classes newer = 1 << 13;               ///< assigned after Unicode 14, the version of Debian's Oniguruma
}  // namespace classes

/// [code point]
const Classes* class_table();
inline Classes classes_of(char32_t value) {
  static const Classes* const table = class_table();
  return value < 0x110000 ? table[value] : 0;
}
inline bool is(char32_t value, Classes which) { return (classes_of(value) & which) != 0; }

inline bool is_white_space(char32_t value) { return is(value, classes::white_space); }

/// What it becomes; empty: it stays.
std::u32string lowercase_of(char32_t value);

/// For a `newer` character: an older one of the same category and UTF-8 length.
char32_t older_like(char32_t value);

/// A character of a changed text: 0 = stands for the next old one, 1 = new beside the one before,
/// -n = stands for the next old one and the n after it are gone (NormalizedString::transform of tokenizers).
struct Change {
  char32_t value = 0;
  std::int32_t change = 0;
};

enum class Form { canonical, compatible };
enum class Composition { none, composed };
/// NFD, NFKD, NFC or NFKC (UAX #15) of a valid UTF-8 text, with the change of each character.
std::vector<Change> normal_form(std::string_view text, Form form, Composition composition);

using base::count_characters;
using base::next_character;
using base::previous_character;
/// End of the grapheme cluster (UAX #29) that begins at `begin`.
std::size_t end_of_cluster(std::string_view text, std::size_t begin);
/// Where the wanted characters end that `text` starts with.
std::size_t end_of_leading(std::string_view text, bool (*is_wanted)(char32_t) = is_white_space);
/// Where those begin that it ends with.
std::size_t start_of_trailing(std::string_view text, bool (*is_wanted)(char32_t) = is_white_space);

}  // namespace stereosweep::tokenizer
