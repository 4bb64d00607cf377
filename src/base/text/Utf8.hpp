// Valid UTF-8, walked character by character, and white space as Python's str.isspace(), str.strip() and str.rstrip()
// have it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace stereosweep::base {

/// Whether a byte begins a character: it does not continue one.
inline bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// The character at `position`; moves `position` behind it. Of invalid bytes: any value, but never beyond the text.
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

/// Start of the character that ends before `position` (> 0).
inline std::size_t previous_character(std::string_view text, std::size_t position) {
  do {
    --position;
  } while (position > 0 && !begins_character(text[position]));
  return position;
}

inline std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

/// The bidirectional types WS, B, S and the category Zs (Unicode 15).
bool is_white_space(char32_t character);
/// Bytes of `text` that str.rstrip() leaves. Stops at bytes that are no valid UTF-8.
std::size_t size_without_trailing_space(std::string_view text);
/// Without the characters at both ends that str.strip() takes off.
std::string_view strip(std::string_view text);

}  // namespace stereosweep::base
