// GPT-2's byte alphabet: each byte is written as one printable character (radford2019, the published encoder.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/AlignedText.hpp"

namespace stereosweep::tokenizer {

/// The character that stands for a byte: itself where printable Latin-1, else one from U+0100 on.
char32_t byte_character(unsigned char byte);
/// The byte that a character stands for; nothing for other characters.
std::optional<unsigned char> character_byte(char32_t value);
/// Rewrites [begin, end) of `from` in the byte alphabet to the end of `to`; a character's bytes share its alignment.
void append_byte_level(AlignedText& to, const AlignedText& from, std::size_t begin, std::size_t end);

}  // namespace stereosweep::tokenizer
