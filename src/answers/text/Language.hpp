// Whether a text is in the language that the rules know. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

enum class Language : std::uint8_t { english, unknown };

/// Whether the word is a frequent English one, or has an English ending.
bool is_frequent(const Token& word);

/// `unknown`: three words or more, of which fewer than one in five is frequent. Shorter texts may be anything.
Language language_of(std::span<const Token> tokens);

}  // namespace stereosweep::answers
