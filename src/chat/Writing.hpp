// A conversation as the one text that a chat model continues, and a model's answer without its thought.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "chat/ChatTemplate.hpp"

namespace stereosweep::chat {

/// A conversation that these pieces do not write.
class NotWritten : public base::InputError {
 public:
  using InputError::InputError;
};

/// The text that transformers' apply_chat_template(messages, add_generation_prompt=True) gives for the family. It holds
/// all control tokens, BOS included: tokenize it without adding special tokens. Content is not escaped: a control token
/// that a user wrote is one to the tokenizer as well (see `control_tokens_in`).
/// Throws NotWritten: no message; the last is not the user's; a system message that is not the first, or that the
/// family refuses; roles that do not take turns where the family wants it; more messages than the pieces are proven
/// for; a text that holds a guard, or one that is empty where the family refuses that.
std::string write_chat(const ChatTemplate& chat, std::span<const Message> messages);

/// Why no conversation with this text is written: a sentence; empty: it can be.
std::string problem_of(const ChatTemplate& chat, Role role, std::string_view text);

/// The template's control tokens that stand in a text that should hold none.
std::vector<std::string> control_tokens_in(const ChatTemplate& chat, std::string_view content);

/// The messages that stand before a job's first question: none, or the system's. `system`: `default` (the format's own,
/// if it has one), `none`, or a text. Throws InputError where the format cannot be given this.
std::vector<Message> system_messages(const ChatTemplate& chat, const std::string& system);

/// A sampled answer in two.
struct SplitAnswer {
  std::string thought;
  std::string answer;   ///< what follows the last closing mark, without newlines at its beginning
  bool is_cut = false;  ///< the thought has no end: there is no answer
  bool operator==(const SplitAnswer&) const = default;
};
SplitAnswer split_thought(const ChatTemplate& chat, std::string_view text);

/// Whether the answer of a model begins behind a thought that is over, or no thought is known of: only then are
/// probabilities of what is answered those of an answer.
bool begins_with_answer(const ChatTemplate& chat);

}  // namespace stereosweep::chat
