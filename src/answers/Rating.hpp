// Ratings that a sampled answer gives: one, or one for each of several items. The rules are in the room's README.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::answers {

enum class Status : std::uint8_t {
  answered,
  range,          ///< "3 to 4", "somewhat or very"
  refused,        ///< declines to answer
  off_scale,      ///< a number beyond the scale, or on another one ("8/10")
  contradictory,  ///< two different answers, none of them withdrawn
  unparsed,       ///< text that is no answer
  truncated,      ///< cut off before an answer
  missing,        ///< of an item or keyword that the answer leaves out
  no_text,        ///< of no parser: the turn of a conversation has no text
  not_asked,      ///< of no parser: the conversation has no such turn
};
/// In the order of Status.
inline const std::vector<std::string> status_names = {"answered", "range",     "refused", "off_scale", "contradictory",
                                                      "unparsed", "truncated", "missing", "no_text",   "not_asked"};

/// Of the parsers' rules: a raw file that was parsed by other rules can be parsed again.
inline constexpr int rules_version = 10;

/// Whether the model ended the text itself, or it reached its longest length.
enum class End : std::uint8_t { finished, cut_off };

/// Numbers from low to high, or options by their places from 0, in the order in which they were listed.
struct Scale {
  double low = 1;
  double high = 5;
  std::vector<std::string> options = {};
};

struct Rating {
  Status status = Status::unparsed;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< answered
  double low = std::numeric_limits<double>::quiet_NaN();    ///< range
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// Of an answer to one question.
Rating parse_rating(std::string_view answer, const Scale& scale, End end = End::finished);

/// One for each item, in their order: from lists, tables, JSON and running text in any order, or a bare list of as many
/// numbers as there are items.
std::vector<Rating> parse_ratings(std::string_view answer, std::span<const std::string> items, const Scale& scale,
                                  End end = End::finished);

}  // namespace stereosweep::answers
