// JSON in an answer as lines of text, so that one set of rules reads lists and JSON.
#pragma once

#include <string>
#include <string_view>

namespace stereosweep::answers {

/// The answer with its JSON object or array, where one begins a line and is whole, as lines: "key: value"; "- value"
/// for each entry of a list; "- name: value" for an object in a list that has a name. Anything else stays as it is.
std::string with_json_as_lines(std::string_view answer);

}  // namespace stereosweep::answers
