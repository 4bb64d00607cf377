// What single characters are (as utf8proc knows Unicode) and how valid UTF-8 is walked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stereosweep::corpus {

/// word: letters (L), marks (M) and decimal digits (Nd); white_space: the property White_Space; other: the rest.
enum class Kind : std::uint8_t { other, word, white_space };
Kind kind_of(char32_t character);
/// The kinds of all characters, below 0x110000: for loops over text.
std::span<const Kind> kinds();

/// Simple case folding (CaseFolding.txt, status C and S): one character to one, the same in every language.
char32_t fold(char32_t character);
/// What all characters fold to, up to the last one that changes.
std::span<const char32_t> foldings();

/// The character at `position` of valid UTF-8; moves `position` behind it. Of invalid bytes: any value, but never
/// beyond the text.
inline char32_t next_character(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t lead = byte(position++);
  if (lead < 0x80) {
    return lead;
  }
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t value = lead & (0x3Fu >> more);
  for (; more > 0 && position < text.size(); --more) {
    value = value << 6 | (byte(position++) & 0x3Fu);
  }
  return value;
}
inline char32_t character_at(std::string_view text, std::size_t position) { return next_character(text, position); }
/// Start of the character that ends before `position` (> 0).
inline std::size_t previous_character(std::string_view text, std::size_t position) {
  do {
    --position;
  } while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80);
  return position;
}

}  // namespace stereosweep::corpus
