// A rating in a part of an answer. For the parsers of this room.
#pragma once

#include <span>
#include <string_view>

#include "answers/Rating.hpp"
#include "answers/candidates/Candidates.hpp"
#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

/// `unparsed` where there is no answer.
Rating read_rating(std::span<const Token> tokens, const Scale& scale);

/// Why a text (lower case) without an answer has none.
Status no_answer(std::string_view lower, End end);

}  // namespace stereosweep::answers
