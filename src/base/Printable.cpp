#include "base/Printable.hpp"

#include "base/Text.hpp"

namespace stereosweep::base {

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    const auto length = point ? point->length : 1;
    const bool is_control = point && (point->value < 0x20 || (point->value >= 0x7F && point->value < 0xA0)) &&
                            text[i] != '\n' && text[i] != '\t';
    if (point && !is_control) {
      out += text.substr(i, length);
    } else {
      const auto byte = static_cast<unsigned char>(text[i + length - 1]);
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    i += length;
  }
  return out;
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    return std::string(text);
  }
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) {
    --max_bytes;
  }
  return std::string(text.substr(0, max_bytes)) + "...";
}

}  // namespace stereosweep::base
