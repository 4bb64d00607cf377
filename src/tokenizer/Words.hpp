// Words for models that read characters (ELMo): no vocabulary, no ids.
#pragma once

#include <string_view>
#include <vector>

#include "base/Text.hpp"

namespace stereosweep::tokenizer {

/// Byte spans of the words of valid UTF-8, in order. White space (Unicode's) separates words and belongs to none; each
/// punctuation character (ASCII's, or category P) is a word of its own; everything else stays as it is, case included.
std::vector<base::Span> split_words(std::string_view text);

}  // namespace stereosweep::tokenizer
