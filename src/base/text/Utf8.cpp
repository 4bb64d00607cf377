#include "base/text/Utf8.hpp"

#include <utf8proc.h>

#include "base/text/Text.hpp"

namespace stereosweep::base {

bool is_white_space(char32_t character) {
  const auto* known = utf8proc_get_property(static_cast<utf8proc_int32_t>(character));
  return known->bidi_class == UTF8PROC_BIDI_CLASS_WS || known->bidi_class == UTF8PROC_BIDI_CLASS_B ||
         known->bidi_class == UTF8PROC_BIDI_CLASS_S || known->category == UTF8PROC_CATEGORY_ZS;
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
