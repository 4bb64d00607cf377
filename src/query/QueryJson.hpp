// One query or answer as one line of JSON: the contract of the command `query`.
//   {"kind":"fill","text":"The [MASK] is [MASK].","ids":[[..],[..]]}          -> {"logprob":[[..],[..]]}
//   {"kind":"continue","prompt":"..","continuations":[".."]}                   -> {"logprob":[..],"tokens":[[..]]}
//   {"kind":"embed","text":"..","span":[start,end],"layer":-1,"pool":"mean"}   -> {"vector":[..]}
//     "layer":"input": rows of the input embedding matrix; "layer":"sum": the sum of all hidden states (ELMo)
//   {"kind":"generate","prompt":"..","max_new_tokens":n,"temperature":0, top_k, top_p, seed, stop, repetition_penalty}
//                                                                              -> {"text":..,"ids":[..]}
//     "thought":{"tokens":n,"opening":"<think>","closing":"</think>","closing_text":"\n</think>\n\n"}: such bounds
//     before an answer of max_new_tokens; without "opening" the text begins inside; adds "closed_thought"
//     "details":true adds "mean_logprob" (null without a token) and "ended": "end_token", "stop" or "length"
//   anything wrong                                                             -> {"error":".."}
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "query/Query.hpp"

namespace stereosweep::query {

/// One message of a conversation, as the line has it.
struct Message {
  std::string role;
  std::string content;
};

/// Writes a conversation as the prompt of a chat model; `chat` names a template, "" stands for the checkpoint's own.
/// Throws InputError.
using ChatWriter = std::function<std::string(std::span<const Message> messages, const std::string& chat)>;

/// Whether an answer's line holds what was not always there.
enum class Details { left_out, written };

/// What a line asks for, and how it wants the answer written.
struct AskedLine {
  Query query;
  Details details = Details::left_out;
};

/// `continue` and `generate` take "messages":[{"role":..,"content":..}] with an optional "chat":"NAME" in place of
/// "prompt"; `write_chat` makes the prompt of it, which then holds all control tokens itself.
/// Throws InputError: invalid UTF-8, broken JSON, unknown kinds and fields, missing fields, wrong types.
/// Whether ids and layers exist is the engine's to say.
AskedLine parse_line(std::string_view line, const ChatWriter& write_chat = {});

/// Without line end. Numbers read back as the same double. Sums of `continue` are made here, first token first.
std::string format_answer(const Answer& answer, Details details = Details::left_out);

}  // namespace stereosweep::query
