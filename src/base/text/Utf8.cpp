
#include "base/text/Text.hpp"

namespace stereosweep::base {

bool is_white_space(char32_t character) {
  return (character >= 0x09 && character <= 0x0D) || (character >= 0x1C && character <= 0x20) || character == 0x85 ||
         character == 0xA0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200A) ||
         character == 0x2028 || character == 0x2029 || character == 0x202F || character == 0x205F ||
         character == 0x3000;
}

std::size_t size_without_trailing_space(std::string_view text) {
  auto size = text.size();
  while (size > 0) {
    auto start = size - 1;
    while (start > 0 && size - start < 4 && !begins_character(text[start])) {
      --start;
    }
    const auto point = decode_utf8(text, start);
    if (!point || start + point->length != size || !is_white_space(point->value)) {
      break;
    }
    size = start;
  }
  return size;
}

std::string_view strip(std::string_view text) {
  text = text.substr(0, size_without_trailing_space(text));
  while (!text.empty()) {
    const auto first = decode_utf8(text, 0);
    if (!first || !is_white_space(first->value)) {
      break;
    }
    text.remove_prefix(first->length);
  }
  return text;
}

}  // namespace stereosweep::base
