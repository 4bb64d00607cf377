#include "sweep/Chat.hpp"

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "base/text/WhiteSpace.hpp"

namespace stereosweep::sweep {
namespace {

[[noreturn]] void refuse(const ChatTemplate& chat, const std::string& problem, const std::string& why,
                         const std::string& suggestion = "") {
  throw base::InputError(base::describe(problem, why + " (chat template '" + chat.label + "')", suggestion));
}

void check(const ChatTemplate& chat, std::span<const Message> messages) {
  if (messages.empty() || messages.back().role != Role::user) {
    refuse(chat,
           messages.empty() ? "a conversation has no message" : "the last message of a conversation is not the user's",
           "the model answers the user");
  }
  const bool has_system = messages.front().role == Role::system;
  if (has_system && chat.system_handling == ChatTemplate::System::refused) {
    refuse(chat, "a conversation opens with a system message", "this family of models has none",
           "Write it into the first user message.");
  }
  for (std::size_t i = has_system ? 1 : 0; i < messages.size(); ++i) {
    if (messages[i].role == Role::system) {
      refuse(chat, "message " + std::to_string(i + 1) + " is a system message", "only the first may be one");
    }
    const bool users_turn = (i - (has_system ? 1 : 0)) % 2 == 0;
    if (chat.order == ChatTemplate::Order::alternate && (messages[i].role == Role::user) != users_turn) {
      refuse(chat, "message " + std::to_string(i + 1) + " is out of turn",
             "user and assistant take turns, the user first");
    }
  }
}

std::string shaped(const ChatTemplate& chat, std::string text) {
  if (chat.trim == ChatTemplate::Trim::both_ends) {
    text = std::string(base::strip(text));
  }
  return text;
}

std::string lines_shaped(const ChatTemplate& chat, std::string text) {
  if (chat.blank_lines == ChatTemplate::BlankLines::halved) {
    text = base::replace_all(base::replace_all(std::move(text), "\r\n", "\n"), "\n\n", "\n");
  }
  return text;
}

}  // namespace

std::string write_chat(const ChatTemplate& chat, std::span<const Message> messages) {
  check(chat, messages);
  std::string text = chat.opening;
  std::string merged;
  if (messages.front().role == Role::system) {
    const std::string& content = messages.front().content;
    if (chat.system_handling == ChatTemplate::System::merged) {
      merged = chat.system.prefix + content + chat.system.suffix;
    } else {
      text += chat.system.prefix + shaped(chat, content) + chat.system.suffix;
    }
    messages = messages.subspan(1);
  }
  for (const auto& message : messages) {
    const auto& turn = message.role == Role::user ? chat.user : chat.assistant;
    text += turn.prefix + lines_shaped(chat, shaped(chat, merged + message.content)) + turn.suffix;
    merged.clear();
  }
  return text + chat.generation;
}

std::vector<std::string> control_tokens_in(const ChatTemplate& chat, std::string_view content) {
  std::vector<std::string> found;
  for (const auto& token : chat.control_tokens) {
    if (content.find(token) != std::string_view::npos) {
      found.push_back(token);
    }
  }
  return found;
}

}  // namespace stereosweep::sweep
