// A conversation as the one text that a chat model continues.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/Chat.hpp"

namespace stereosweep::sweep {

/// The text that transformers' apply_chat_template(messages, add_generation_prompt=True) gives for the family. It holds
/// all control tokens, BOS included: tokenize it without adding special tokens. Content is not escaped: a control token
/// that a user wrote is one to the tokenizer as well (see `control_tokens_in`).
/// Throws InputError: no message; the last is not the user's; a system message that is not the first, or that the
/// family refuses; roles that do not take turns where the family wants it.
std::string write_chat(const ChatTemplate& chat, std::span<const Message> messages);

/// The template's control tokens that stand in a text that should hold none.
std::vector<std::string> control_tokens_in(const ChatTemplate& chat, std::string_view content);

/// Without the characters at both ends that Python's str.strip() takes off.
std::string_view strip(std::string_view text);

}  // namespace stereosweep::sweep
