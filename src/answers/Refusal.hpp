// Phrases by which a text declines to answer. The patterns are in the .cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "answers/PlainText.hpp"

namespace stereosweep::answers {

/// Tokens [first, last) of a phrase that declines: "I cannot", "it would be unfair to".
struct Refusal {
  std::size_t first;
  std::size_t last;
  bool is_disclaimer;  ///< "as an AI", "sorry", "I have no opinions": an answer may still follow
};

/// In the order of the text; time grows with the number of tokens.
std::vector<Refusal> find_refusals(std::span<const Token> tokens);

/// Whether the first or last 20,000 bytes of the text hold one.
bool has_refusal(std::string_view text);

}  // namespace stereosweep::answers
