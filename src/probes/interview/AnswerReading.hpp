// What the texts of a conversation say: its ratings, keywords and reasons, by
// the rules of the room answers. Used when a block is folded, and again by
// `stats --reparse`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/interview/Conversation.hpp"
#include "query/Query.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::interview {

/// What ended a text; `none`: there is no text.
enum class AnswerEnding : std::uint8_t { end_token, stop, length, none };
inline const std::vector<std::string> ending_names = {"end_token", "stop", "length", "none"};

/// A sampled text as the file keeps it.
struct SampledText {
  std::string text;
  AnswerEnding ending = AnswerEnding::none;
};

/// The statuses of parsed answers (answers::status_names), then those of
/// answers that there are not.
const std::vector<std::string>& reading_names();
/// Names in `reading_names`.
std::uint8_t no_text();    ///< the turn has no text: it failed, or an earlier one did
std::uint8_t not_asked();  ///< the form or the conversation has no such turn

struct ReadRating {
  std::uint8_t status = 0;  ///< in `reading_names`
  double value = stats::nan;
  double low = stats::nan;  ///< of a range
  double high = stats::nan;
};

struct ReadReason {
  std::uint8_t status = 0;
  std::string text;
};

struct ReadConversation {
  std::vector<ReadRating> ratings;  ///< by the items of the conversation's turns, in order
  std::uint8_t keyword_status = 0;
  std::vector<std::string> keywords;  ///< at most as many as the turn keeps
  std::vector<ReadReason> reasons;    ///< by keyword; empty where no turn asks for them
};

/// `texts`: by turn; nothing where the turn was not asked.
ReadConversation read_answers(const Conversation& conversation, std::span<const std::optional<SampledText>> texts);

/// Version of the parsers' rules in this program.
std::int32_t rules_version();

}  // namespace stereosweep::probes::interview
