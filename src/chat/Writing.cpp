#include "chat/Writing.hpp"

#include <algorithm>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "base/text/Utf8.hpp"

namespace stereosweep::chat {
namespace {

std::string about(const ChatTemplate& chat) { return "; chat template '" + chat.label + "'"; }

[[noreturn]] void refuse(const ChatTemplate& chat, const std::string& problem, const std::string& why,
                         const std::string& suggestion = "") {
  throw NotWritten(base::describe(problem, why + about(chat), suggestion));
}

void check(const ChatTemplate& chat, std::span<const Message> messages) {
  if (messages.empty() || messages.back().role != Role::user) {
    refuse(chat,
           messages.empty() ? "a conversation has no message" : "the last message of a conversation is not the user's",
           "the model answers the user");
  }
  const bool has_system = messages.front().role == Role::system;
  if (has_system && chat.system.handling == SystemTurn::Handling::refused) {
    refuse(chat, "a conversation opens with a system message", "this family of models has none",
           "Write it into the first user message.");
  }
  const std::size_t first = has_system ? 1 : 0;
  if (chat.longest > 0 && messages.size() - first > static_cast<std::size_t>(chat.longest)) {
    refuse(chat, "a conversation has " + base::counted(messages.size() - first, "message"),
           "the pieces are proven for at most " + std::to_string(chat.longest));
  }
  for (std::size_t i = first; i < messages.size(); ++i) {
    if (messages[i].role == Role::system) {
      refuse(chat, "message " + std::to_string(i + 1) + " is a system message", "only the first may be one");
    }
    const bool users_turn = (i - first) % 2 == 0;
    if (chat.order == ChatTemplate::Order::alternate && (messages[i].role == Role::user) != users_turn) {
      refuse(chat, "message " + std::to_string(i + 1) + " is out of turn",
             "user and assistant take turns, the user first");
    }
  }
  for (const auto& message : messages) {
    if (const auto problem = problem_of(chat, message.role, message.content); !problem.empty()) {
      throw NotWritten(problem);
    }
  }
}

TextRule rule_of(const ChatTemplate& chat, Role role) {
  const ChatTurn& turn = role == Role::system ? chat.system : role == Role::user ? chat.user : chat.assistant;
  if (turn.text) {
    return *turn.text;
  }
  TextRule rule;
  const bool is_system = role == Role::system;
  if (chat.trim == ChatTemplate::Trim::both_ends &&
      !(is_system && chat.system.handling == SystemTurn::Handling::merged)) {  // stripped as a part of the user's text
    rule.left = rule.right = TextRule::Strip::white_space;
  }
  rule.blank_lines = is_system ? TextRule::BlankLines::kept : chat.blank_lines;
  return rule;
}

std::string shaped(const TextRule& rule, std::string_view text) {
  using Strip = TextRule::Strip;
  if (rule.left == Strip::newlines) {
    text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  } else if (rule.left == Strip::white_space) {
    text =
        base::strip(text).empty() ? "" : text.substr(static_cast<std::size_t>(base::strip(text).data() - text.data()));
  }
  if (rule.right == Strip::newlines) {
    text = text.substr(0, text.find_last_not_of('\n') + 1);
  } else if (rule.right == Strip::white_space) {
    text = text.substr(0, base::size_without_trailing_space(text));
  }
  return rule.blank_lines == TextRule::BlankLines::kept
             ? std::string(text)
             : base::replace_all(base::replace_all(std::string(text), "\r\n", "\n"), "\n\n", "\n");
}

/// What stands in the place of a text of which nothing is left; null: nothing special.
const EmptyText* empty_text(const TextRule& rule, std::string_view text, std::string_view shaped_text) {
  const auto& special = text.empty() ? rule.empty : rule.blank;
  return shaped_text.empty() && special ? &*special : nullptr;
}

/// Without as many code points at its end.
void cut_end(std::string& text, std::int64_t count) {
  for (; count > 0 && !text.empty(); --count) {
    text.resize(base::previous_character(text, text.size()));
  }
}

void cut_start(std::string& text, std::int64_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    base::next_character(text, at);
  }
  text.erase(0, at);
}

/// The texts of a conversation and the literals around them: one literal more than texts.
struct Parts {
  std::vector<std::string> literals;
  std::vector<std::pair<TextRule, std::string>> texts;
  void add(const TextRule& rule, std::string text, std::string literal) {
    texts.emplace_back(rule, std::move(text));
    literals.push_back(std::move(literal));
  }
};

Parts parts_of(const ChatTemplate& chat, std::span<const Message> messages) {
  using Handling = SystemTurn::Handling;
  const bool has_system = messages.front().role == Role::system;
  const std::string system = has_system ? messages.front().content : "";
  const auto system_rule = rule_of(chat, Role::system);
  messages = messages.subspan(has_system ? 1 : 0);
  const bool has_turn = has_system && chat.system.handling == Handling::turn;
  Parts parts{{chat.opening + (has_turn ? chat.system.prefix : has_system ? "" : chat.system.absent)}, {}};
  if (has_turn) {
    parts.add(system_rule, system, chat.system.suffix);
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const bool is_last = i + 1 == messages.size();
    const auto& turn = messages[i].role == Role::user ? chat.user : chat.assistant;
    std::string text = messages[i].content;
    parts.literals.back() += turn.prefix;
    if (has_system && chat.system.handling == Handling::merged && i == 0) {
      text = chat.system.prefix + shaped(system_rule, system) + chat.system.suffix + text;
    } else if (has_system && chat.system.handling == Handling::last_user && is_last) {
      parts.literals.back() += chat.system.prefix;
      parts.add(system_rule, system, chat.system.suffix);
    }
    parts.add(rule_of(chat, messages[i].role), std::move(text), turn.suffix + (is_last ? chat.generation : ""));
  }
  return parts;
}

}  // namespace

std::string problem_of(const ChatTemplate& chat, Role role, std::string_view text) {
  for (const auto& guard : chat.guards) {
    if (text.find(guard) != std::string_view::npos) {
      return base::describe("a text holds " + base::json_quote(guard),
                            "the model's template looks for it, and writes the conversation otherwise" + about(chat));
    }
  }
  const auto rule = rule_of(chat, role);
  const auto* empty = empty_text(rule, text, shaped(rule, text));
  return empty != nullptr && empty->refused
             ? base::describe("a text is empty", "the model's template refuses that" + about(chat))
             : "";
}

std::string write_chat(const ChatTemplate& chat, std::span<const Message> messages) {
  check(chat, messages);
  auto [literals, texts] = parts_of(chat, messages);
  std::string written;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto text = shaped(texts[i].first, texts[i].second);
    if (const auto* empty = empty_text(texts[i].first, texts[i].second, text)) {
      cut_end(literals[i], empty->before);
      text = empty->text;
      cut_start(literals[i + 1], empty->after);
    }
    written += literals[i] + text;
  }
  return written + literals.back();
}

std::vector<std::string> control_tokens_in(const ChatTemplate& chat, std::string_view content) {
  const auto is_there = [&](const auto& token) { return content.find(token) != std::string_view::npos; };
  return base::filtered(chat.control_tokens, is_there);
}

std::vector<Message> system_messages(const ChatTemplate& chat, const std::string& system) {
  if (system == "default") {
    return {};
  }
  if (system != "none") {
    base::refuse_if(chat.system.handling == SystemTurn::Handling::refused, "model.system: a system text is given",
                    "the model's chat template takes none" + about(chat), "Write it into the questions.");
    return {{Role::system, system}};
  }
  base::refuse_if(chat.system.none == SystemTurn::None::refused, "model.system: none cannot be had",
                  "the model's chat template writes a system text of its own in any case" + about(chat),
                  "Say model.system: default, or a text, or write the pieces of model.chat into the job.");
  return chat.system.none == SystemTurn::None::empty ? std::vector<Message>{{Role::system, ""}}
                                                     : std::vector<Message>();
}

SplitAnswer split_thought(const ChatTemplate& chat, std::string_view text) {
  if (!chat.thought) {
    return {"", std::string(text), false};
  }
  const auto& marks = *chat.thought;
  const auto start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const bool opens = !marks.opening.empty() && text.substr(start).starts_with(base::trim(marks.opening));
  const auto thought = text.substr(opens ? start + base::trim(marks.opening).size() : 0);
  const auto end = thought.rfind(marks.closing);
  if (end == std::string_view::npos) {
    const bool is_cut = opens || marks.begins == ThoughtMarks::Begins::inside;
    return is_cut ? SplitAnswer{std::string(thought), "", true} : SplitAnswer{"", std::string(text), false};
  }
  auto answer = thought.substr(end + marks.closing.size());
  answer.remove_prefix(std::min(answer.find_first_not_of('\n'), answer.size()));
  return {std::string(thought.substr(0, end)), std::string(answer), false};
}

bool begins_with_answer(const ChatTemplate& chat) {
  if (!chat.thought) {
    return true;
  }
  const std::string lead = chat.user.suffix + chat.generation;
  return base::trim(lead).ends_with(base::trim(chat.thought->closing));
}

}  // namespace stereosweep::chat
