// Conversations, and how a chat model's checkpoint wants them written as one text. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stereosweep::chat {

enum class Role { system, user, assistant };

struct Message {
  Role role = Role::user;
  std::string content;
  bool operator==(const Message&) const = default;
};

/// What a format writes for a text of which nothing is left: what is cut from the literals at both sides (code points),
/// and a text in its place; or the conversation is refused.
struct EmptyText {
  bool refused = false;
  std::int64_t before = 0;
  std::string text;
  std::int64_t after = 0;
  bool operator==(const EmptyText&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.unless_default().boolean("refused", self.refused, "no conversation is written with such a text");
    keys.unless_default().integer("before", self.before, 0, 1'000'000, "characters cut from what stands before");
    keys.text("text", self.text, "in its place");
    keys.unless_default().integer("after", self.after, 0, 1'000'000, "characters cut from what stands after");
  }
};

/// What becomes of one role's texts.
struct TextRule {
  /// `white_space`: as Python's str.strip() takes it off.
  enum class Strip { none, white_space, newlines };
  /// `halved`: "\r\n" becomes "\n", and then each "\n\n" becomes "\n".
  enum class BlankLines { kept, halved };
  Strip left = Strip::none;
  Strip right = Strip::none;
  BlankLines blank_lines = BlankLines::kept;
  std::optional<EmptyText> empty = std::nullopt;  ///< of a text that has no character
  std::optional<EmptyText> blank = std::nullopt;  ///< of one that has none after stripping
  bool operator==(const TextRule&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("left", self.left, {"none", "white_space", "newlines"}, "what is stripped at its beginning");
    keys.choice("right", self.right, {"none", "white_space", "newlines"}, "what is stripped at its end");
    keys.choice("blank_lines", self.blank_lines, {"kept", "halved"});
    keys.optional_item("empty", self.empty, "a text without a character");
    keys.optional_item("blank", self.blank, "a text of white space alone");
  }
};

/// What stands around one message, and what becomes of its text.
struct ChatTurn {
  std::string prefix;
  std::string suffix;
  std::optional<TextRule> text = std::nullopt;  ///< nothing: as the template's `trim` and `blank_lines` say
  bool operator==(const ChatTurn&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.text("prefix", self.prefix);
    keys.text("suffix", self.suffix);
    keys.optional_item("text", self.text, "what becomes of the text; default: trim and blank_lines of the template");
  }
};

struct SystemTurn : ChatTurn {
  /// `turn`: before the first user's turn; `merged`: its prefix, text and suffix open the first user's content, and
  /// stripping takes them as one text; `last_user`: prefix, text and suffix stand before the last user's text;
  /// `refused`: the family has none.
  enum class Handling { turn, merged, refused, last_user };
  /// How a conversation gets no system text: none is given, an empty one is, or the format writes its own in any case.
  enum class None { left_out, empty, refused };
  Handling handling = Handling::turn;
  std::string absent;  ///< in place of the turn where no system text is given
  None none = None::left_out;
  bool operator==(const SystemTurn&) const = default;
  static void each_key(auto& self, auto& keys) {
    ChatTurn::each_key(self, keys);
    keys.choice("handling", self.handling, {"turn", "merged", "refused", "last_user"});
    keys.text("absent", self.absent, "in place of a system turn where none is given");
    keys.unless_default().choice("none", self.none, {"left_out", "empty", "refused"},
                                 "how a conversation gets no system text");
  }
};

/// Marks around what a model thinks before it answers.
struct ThoughtMarks {
  /// Where an answer begins: before its thought, whose opening mark the model writes, or inside it.
  enum class Begins { before, inside };
  std::string opening;
  std::string closing;
  Begins begins = Begins::before;
  bool operator==(const ThoughtMarks&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.text("opening", self.opening);
    keys.needed().text("closing", self.closing);
    keys.choice("begins", self.begins, {"before", "inside"}, "where an answer begins");
  }
};

/// The checkpoint's template that the pieces were made of, and how.
struct TemplateOrigin {
  std::string file;      ///< "chat_template.jinja"
  std::string name;      ///< of several templates of a checkpoint; empty: it has one
  std::string sha256;    ///< of the template's text
  std::string switches;  ///< what it was given besides the conversation: {"enable_thinking": false}
  std::string date;      ///< 2026-11-26; empty: the template writes none
  std::string jinja2;    ///< version
  std::string proof;     ///< what was compared
  bool operator==(const TemplateOrigin&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.not_raw().line("file", self.file);
    keys.line("name", self.name);
    keys.line("sha256", self.sha256);
    keys.line("switches", self.switches);
    keys.line("date", self.date);
    keys.not_raw().line("jinja2", self.jinja2);
    keys.not_raw().line("proof", self.proof);
  }
};

/// The format of one family of chat models; control tokens stand in it as text ("<s>", "<|eot_id|>").
struct ChatTemplate {
  /// `both_ends`: of every role's texts that have no rule of their own.
  enum class Trim { none, both_ends };
  /// `alternate`: user and assistant take turns, the user first.
  enum class Order { free, alternate };

  std::string label;    ///< name of the piece: "llama3"
  std::string opening;  ///< before everything: the BOS token where the family writes one
  SystemTurn system;
  ChatTurn user;
  ChatTurn assistant;
  std::string generation;  ///< after the last message: opens the assistant's answer
  Trim trim = Trim::none;
  TextRule::BlankLines blank_lines = TextRule::BlankLines::kept;  ///< of user's and assistant's texts
  Order order = Order::free;
  std::vector<std::string> control_tokens;  ///< must be tokens of the checkpoint's vocabulary
  std::vector<std::string> guards;          ///< what the template looks for: a text that holds one is not written
  std::int64_t longest = 0;                 ///< most messages besides the system's that the proof covers; 0: any
  std::optional<ThoughtMarks> thought = std::nullopt;
  std::optional<TemplateOrigin> origin = std::nullopt;  ///< nothing: written by hand
  bool operator==(const ChatTemplate&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "name in the result");
    keys.text("opening", self.opening, "before everything");
    keys.needed().item("system", self.system);
    keys.needed().item("user", self.user);
    keys.needed().item("assistant", self.assistant);
    keys.text("generation", self.generation, "after the last message: opens the answer");
    keys.choice("trim", self.trim, {"none", "both_ends"});
    keys.choice("blank_lines", self.blank_lines, {"kept", "halved"});
    keys.choice("order", self.order, {"free", "alternate"});
    keys.texts("control_tokens", self.control_tokens, "must be tokens of the checkpoint's vocabulary");
    keys.unless_default().texts("guards", self.guards, "a text that holds one of these is not written");
    keys.unless_default().integer("longest", self.longest, 0, 1'000'000, "most messages of a conversation; 0: any");
    keys.optional_item("thought", self.thought, "marks around what a model thinks before it answers");
    keys.optional_item("origin", self.origin, "the checkpoint's template that this was made of");
  }
};

}  // namespace stereosweep::chat
