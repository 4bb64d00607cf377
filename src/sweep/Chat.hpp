// Conversations, and how a chat model's checkpoint wants them written as one text. Plain values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::sweep {

enum class Role { system, user, assistant };

struct Message {
  Role role = Role::user;
  std::string content;
  bool operator==(const Message&) const = default;
};

/// What stands around one message.
struct ChatTurn {
  std::string prefix;
  std::string suffix;
  bool operator==(const ChatTurn&) const = default;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.text("prefix", self.prefix);
    keys.text("suffix", self.suffix);
  }
};

/// The format of one family of chat models; control tokens stand in it as text ("<s>", "<|eot_id|>").
struct ChatTemplate {
  /// `turn`: a turn of its own; `merged`: its prefix, text and suffix open the first user's content, and trimming
  /// takes them as one text; `refused`: the family has none.
  enum class System { turn, merged, refused };
  /// `both_ends`: white space as Python's str.strip() takes it off.
  enum class Trim { none, both_ends };
  /// `halved`: in user's and assistant's content "\r\n" becomes "\n", and then each "\n\n" becomes "\n".
  enum class BlankLines { kept, halved };
  /// `alternate`: user and assistant take turns, the user first.
  enum class Order { free, alternate };

  std::string label;    ///< name of the piece: "llama3"
  std::string opening;  ///< before everything: the BOS token where the family writes one
  System system_handling = System::turn;
  ChatTurn system;
  ChatTurn user;
  ChatTurn assistant;
  std::string generation;  ///< after the last message: opens the assistant's answer
  Trim trim = Trim::none;
  BlankLines blank_lines = BlankLines::kept;
  Order order = Order::free;
  std::vector<std::string> control_tokens;  ///< must be tokens of the checkpoint's vocabulary
  bool operator==(const ChatTemplate&) const = default;
  template <class Self, class Keys>
  static void each_key(Self& self, Keys& keys) {
    keys.line("label", self.label, "name in the result");
    keys.text("opening", self.opening, "before everything");
    keys.needed().nested("system", [&](auto& own) {
      ChatTurn::each_key(self.system, own);
      own.choice("handling", self.system_handling, {"turn", "merged", "refused"});
    });
    keys.needed().item("user", self.user);
    keys.needed().item("assistant", self.assistant);
    keys.text("generation", self.generation, "after the last message: opens the answer");
    keys.choice("trim", self.trim, {"none", "both_ends"});
    keys.choice("blank_lines", self.blank_lines, {"kept", "halved"});
    keys.choice("order", self.order, {"free", "alternate"});
    keys.texts("control_tokens", self.control_tokens, "must be tokens of the checkpoint's vocabulary");
  }
};

/// The text that transformers' apply_chat_template(messages, add_generation_prompt=True) gives for the family. It holds
/// all control tokens, BOS included: tokenize it without adding special tokens. Content is not escaped: a control token
/// that a user wrote is one to the tokenizer as well (see `control_tokens_in`).
/// Throws InputError: no message; the last is not the user's; a system message that is not the first, or that the
/// family refuses; roles that do not take turns where the family wants it.
std::string write_chat(const ChatTemplate& chat, std::span<const Message> messages);

/// The template's control tokens that stand in a text that should hold none.
std::vector<std::string> control_tokens_in(const ChatTemplate& chat, std::string_view content);

}  // namespace stereosweep::sweep
