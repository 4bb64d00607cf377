// A rating in a part of an answer. For the parsers of this room.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "answers/Rating.hpp"
#include "answers/candidates/Candidates.hpp"
#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

/// `unparsed` where there is no answer. `language`: of the whole text.
Rating read_rating(std::span<const Token> tokens, const Scale& scale, Language language);

/// The last word from `first` on that takes back what was said before it: "actually", "wait", "on second thought".
std::optional<std::size_t> last_withdrawal(std::span<const Token> tokens, std::size_t first);

/// Why a text (lower case) without an answer has none.
Status no_answer(std::string_view lower, End end);

}  // namespace stereosweep::answers
