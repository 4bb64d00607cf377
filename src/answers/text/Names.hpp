// Names that a question gives (items, options, keywords) in the text of an answer. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {

/// The words and numbers of each name as one word, lower case: "highstatus".
std::vector<std::string> joined_names(std::span<const std::string> names);

/// How a name may be written: "friendly", or "friendliness" for it.
enum class NameForm : std::uint8_t { exact, same_stem };

/// A name in the text: tokens [first, last).
struct NameMention {
  std::size_t name;  ///< index into the names
  std::size_t first;
  std::size_t last;
};

/// The longest name that begins at `at`, the first one of several. Signs between words do not count: "high-status",
/// "high status" and "highstatus" are one name. `names`: joined.
std::optional<NameMention> name_at(std::span<const Token> tokens, std::size_t at, std::span<const std::string> names,
                                   NameForm form = NameForm::exact);

}  // namespace stereosweep::answers
