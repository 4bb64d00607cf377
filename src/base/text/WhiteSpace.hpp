// White space as Python's str.isspace(), str.strip() and str.rstrip() have it.
#pragma once

#include <cstddef>
#include <string_view>

namespace stereosweep::base {

/// The bidirectional types WS, B, S and the category Zs (Unicode 15).
bool is_white_space(char32_t character);
/// Bytes of `text` that str.rstrip() leaves. Stops at bytes that are no valid UTF-8.
std::size_t size_without_trailing_space(std::string_view text);
/// Without the characters at both ends that str.strip() takes off.
std::string_view strip(std::string_view text);

}  // namespace stereosweep::base
