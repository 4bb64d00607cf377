// Keywords that a sampled answer lists, and what it says of each. The rules are in the room's README.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/Rating.hpp"

namespace stereosweep::answers {

struct Keywords {
  Status status = Status::unparsed;  ///< answered, refused, unparsed or truncated
  std::vector<std::string> words;    ///< lower case, each once, in the order of the answer
};

/// At most `most` keywords of an answer that numbers, bullets, quotes or separates them, or writes one a line.
Keywords parse_keywords(std::string_view answer, std::size_t most, End end = End::finished);

struct Reason {
  Status status = Status::missing;  ///< answered, refused, truncated or missing
  std::string text;                 ///< as the answer has it, without markup
};

/// For each keyword, in their order, what the answer says of it.
std::vector<Reason> parse_reasons(std::string_view answer, std::span<const std::string> keywords,
                                  End end = End::finished);

}  // namespace stereosweep::answers
