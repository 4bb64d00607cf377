// The generated tables (tests/tokenizer/make_unicode_tables.py): facts read off the tokenizers wheel.
#pragma once

#include <span>

namespace stereosweep::tokenizer::tables {

/// Classes: pairs of first and last code point, ascending.
extern const std::span<const char32_t> white_space, regex_space, regex_letter, regex_number, punctuation,
    removed_by_cleaning, cleaned_to_space, nonspacing_mark, chinese, combining_mark, numeric, word;
/// Mappings, ascending: code point with the number of targets in its top byte, then the targets (fully decomposed;
/// Hangul syllables are left out).
extern const std::span<const char32_t> lowercase, canonical, compatible_low, compatible_high;
/// Triples: first and last code point, combining class.
extern const std::span<const char32_t> combining_classes;
/// Triples: first and last code point assigned after Unicode 14, an older one like them.
extern const std::span<const char32_t> newer;
/// Triples: first, second, composed; ascending.
extern const std::span<const char32_t> composition;

}  // namespace stereosweep::tokenizer::tables
