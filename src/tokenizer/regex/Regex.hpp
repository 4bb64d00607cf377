// A regular expression of a tokenizer file, matched as Hugging Face's tokenizers does (Oniguruma, its default syntax).
// Files are hostile: a match that needs too many steps or too much memory is an error, never a hang.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/regex/Pattern.hpp"

namespace stereosweep::tokenizer {

/// Throws InputError (of `place`) for an expression that does not compile; `find` throws Error at its limits.
std::unique_ptr<Pattern> make_regex(const std::string& expression, const Field& place);

}  // namespace stereosweep::tokenizer
