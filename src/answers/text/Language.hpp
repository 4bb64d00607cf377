// Whether a text is in the language that the rules know. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

enum class Language : std::uint8_t { english, unknown };

/// Whether the word is a frequent English one, or has an English ending.
bool is_frequent(const Token& word);

/// `unknown`: more words of other languages than frequent English ones (words beyond ASCII are such), or five words and
/// no frequent one, or many words with few of them.
Language language_of(std::span<const Token> tokens);

}  // namespace stereosweep::answers
