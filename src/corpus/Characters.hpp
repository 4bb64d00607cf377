// What characters are (as utf8proc knows Unicode), how valid UTF-8 is walked, and when two spellings are one text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/Utf8.hpp"
#include "corpus/Corpus.hpp"

namespace stereosweep::corpus {

/// word: letters (L), marks (M) and decimal digits (Nd); white_space: the property White_Space; other: the rest.
enum class Kind : std::uint8_t { other, word, white_space };
Kind kind_of(char32_t character);
/// Kinds of all characters below 0x110000, for loops over text; with the bit `unsettled` where another spelling of the
/// same text may lack the character: no NFC, a mark, part of a composed character, or unseen.
std::span<const std::uint8_t> kinds();
constexpr std::uint8_t unsettled = 4;

/// Simple case folding (CaseFolding.txt, status C and S): one character to one, the same in every language.
char32_t fold(char32_t character);
/// What all characters fold to, up to the last one that changes.
std::span<const char32_t> foldings();

using base::next_character;
using base::previous_character;
inline char32_t character_at(std::string_view text, std::size_t position) { return next_character(text, position); }

/// NFC of `text`, without unseen characters: soft hyphens, joiners, direction marks and zero-width spaces (but these
/// stay where they part words of Thai, Lao, Burmese and Khmer). `positions`: of its unsettled characters, ascending;
/// only what stands around them is read. `places`: for each byte of what is returned, and for its end, where its
/// character was in `text`. What is invalid, and over 256 bytes of marks, stay as they are.
std::string normal_form(std::string_view text, std::span<const std::size_t> positions,
                        std::vector<std::size_t>& places);
/// Whether a character is unseen, behind the character `before`.
bool is_unseen(char32_t character, char32_t before);

/// A word as it is compared with words of a file of vectors: NFC, underscores for blanks, without unseen characters;
/// where case is ignored after full case folding, where accents are ignored without marks (M).
std::string comparable(std::string_view word, StaticVectors::Case letter_case, StaticVectors::Accents accents);

}  // namespace stereosweep::corpus
