// One query or answer as one line of JSON: the contract of the command `query`.
//   {"kind":"fill","text":"The [MASK] is [MASK].","ids":[[..],[..]]}                 -> {"logprob":[[..],[..]]}
//   {"kind":"continue","prompt":"..","continuations":[".."]}                          ->
//   {"logprob":[..],"tokens":[[..]]}
//   {"kind":"embed","text":"..","span":[start,end],"layer":-1,"pool":"mean"}          -> {"vector":[..]}
//   {"kind":"generate","prompt":"..","max_new_tokens":n,"temperature":0, top_k, top_p, seed, stop} ->
//   {"text":..,"ids":[..]} anything wrong                                                                    ->
//   {"error":".."}
#pragma once

#include <string>
#include <string_view>

#include "query/Query.hpp"

namespace stereosweep::query {

/// Throws InputError: invalid UTF-8, broken JSON, unknown kinds and fields, missing fields, wrong types.
/// Whether ids and layers exist is the engine's to say.
Query parse_query(std::string_view line);

/// Without line end. Numbers read back as the same double. Sums of `continue` are made here, first token first.
std::string format_answer(const Answer& answer);

}  // namespace stereosweep::query
