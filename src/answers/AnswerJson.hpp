// One answer to parse as one line of JSON: the contract of the command `parse`.
//   {"kind":"rating","text":"..","low":1,"high":5} or {..,"options":[".."]}   -> {"status":"answered","value":4}
//   {"kind":"ratings","items":[".."],"low":1,"high":5,"text":".."}            -> {"values":[4,null],"statuses":[".."]}
//   {"kind":"keywords","text":"..","most":10}                                 ->
//   {"status":"answered","keywords":[".."]}
//   {"kind":"reasons","keywords":[".."],"text":".."}                          ->
//   {"statuses":[".."],"reasons":["..",null]}
// "finished":false: the text was cut off. A range has "low" and "high" in place of "value".
#pragma once

#include <string>
#include <string_view>

namespace stereosweep::answers {

/// The answer's line, without its end. Throws InputError: broken JSON, unknown kinds and fields, missing fields, wrong
/// types, a scale without a width.
std::string parse_line(std::string_view line);

}  // namespace stereosweep::answers
