// Phrases by which a text declines to answer or goes round the question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

enum class RefusalKind : std::uint8_t {
  declines,   ///< "I cannot", "it would be unfair to"
  disclaims,  ///< "as an AI", "sorry", "I have no opinions": an answer may still follow
  evades      ///< "that depends", "hard to say", "people are all different": likewise
};

/// Tokens [first, last) of a phrase.
struct Refusal {
  std::size_t first;
  std::size_t last;
  RefusalKind kind;
};

/// In the order of the text; time grows with the number of tokens.
std::vector<Refusal> find_refusals(std::span<const Token> tokens);

/// Those that decline in so many words.
std::vector<Refusal> find_declining(std::span<const Token> tokens);

/// Whether a plain text declines before a place and does not come back to the question: what is listed there is
/// something else.
bool declines_before(std::string_view plain, std::size_t place);

/// Whether the first or last 20,000 bytes of the text decline or disclaim.
bool has_refusal(std::string_view text);
/// Whether its first sentences or its last one evade: further on a text speaks of something else.
bool has_evasion(std::string_view text);

}  // namespace stereosweep::answers
