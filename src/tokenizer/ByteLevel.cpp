#include "tokenizer/ByteLevel.hpp"

#include <array>

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t num_characters = 256 + 68;  // 188 bytes stand for themselves

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<int, num_characters> bytes{};
  Alphabet() {
    bytes.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = printable ? byte : next++;
      bytes[characters[byte]] = static_cast<int>(byte);
    }
  }
};

const Alphabet alphabet;

}  // namespace

char32_t byte_character(unsigned char byte) { return alphabet.characters[byte]; }

std::optional<unsigned char> character_byte(char32_t value) {
  if (value >= num_characters || alphabet.bytes[value] < 0) {
    return std::nullopt;
  }
  return static_cast<unsigned char>(alphabet.bytes[value]);
}

void append_byte_level(AlignedText& to, const AlignedText& from, std::size_t begin, std::size_t end) {
  const auto text = from.text();
  AlignedText::check_growth(to.size() + 2 * (end - begin), from.size());
  for (std::size_t i = begin; i < end; ++i) {
    to.put(byte_character(static_cast<unsigned char>(text[i])), from.alignment(i));
  }
}

}  // namespace stereosweep::tokenizer
