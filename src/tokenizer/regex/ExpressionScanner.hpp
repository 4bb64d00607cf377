// Regular expressions of the kind that tokenizer files use to find words, without Oniguruma's cost for each match.
#pragma once

#include <memory>
#include <string>

#include "tokenizer/regex/Pattern.hpp"

namespace stereosweep::tokenizer {

/// The pattern of an expression that is made of alternatives, sequences, groups that may be optional, sets of
/// characters with greedy counts, "$", and one set to look ahead at; null for every other one, and where a match could
/// be empty. It finds what make_regex finds. Throws InputError for expressions that Oniguruma refuses.
std::unique_ptr<Pattern> make_scanner(const std::string& expression, const Field& place);

}  // namespace stereosweep::tokenizer
