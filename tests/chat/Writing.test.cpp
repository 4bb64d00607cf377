#include "chat/Writing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "config/ChatKeys.hpp"
#include "support/Places.hpp"
#include "support/ProcessorTime.hpp"

namespace stereosweep::chat {
namespace {

const std::string source = source_directory();

ChatTemplate shipped(const std::string& name) { return config::find_chat(name, source + "/jobs"); }

Role role_of(const std::string& name) {
  return name == "system" ? Role::system : name == "user" ? Role::user : Role::assistant;
}

TEST(ChatPrompt, equals_transformers_for_every_shipped_template) {
  const auto goldens = base::parse_json(base::read_file(source + "/tests/chat/chat_goldens.json"), "goldens");
  std::set<std::string> families;
  int num_refused = 0;
  for (const auto& item : goldens.at("cases")) {
    const auto family = item.at("family").get<std::string>();
    families.insert(family);
    SCOPED_TRACE(family + ": " + item.at("name").get<std::string>());
    std::vector<Message> messages;
    for (const auto& message : item.at("messages")) {
      messages.push_back({role_of(message.at("role").get<std::string>()), message.at("content").get<std::string>()});
    }
    if (item.at("text").is_null()) {
      EXPECT_THROW(write_chat(shipped(family), messages), base::InputError);
      ++num_refused;
    } else {
      EXPECT_EQ(write_chat(shipped(family), messages), item.at("text").get<std::string>());
    }
  }
  EXPECT_GT(num_refused, 20);
  for (const auto& entry : std::filesystem::directory_iterator(source + "/configs/chat")) {
    EXPECT_TRUE(families.contains(entry.path().stem().string())) << entry.path() << " has no goldens";
  }
}

std::vector<Message> messages_in(const base::Json& list) {
  std::vector<Message> messages;
  for (const auto& message : list) {
    messages.push_back({role_of(message.at("role").get<std::string>()), message.at("content").get<std::string>()});
  }
  return messages;
}

/// Conversations of a file as template_goldens.py writes it; `num_withheld`: those that hold a guard or are refused.
struct Compared {
  std::size_t equal = 0;
  std::size_t num_withheld = 0;
};
Compared compare(const base::Json& goldens) {
  Compared counts;
  for (const auto& one : goldens.at("templates")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const auto chat = config::read_pieces(one.at("pieces").dump());
    for (const auto& item : one.at("cases")) {
      const auto messages = messages_in(item.at("messages"));
      try {
        const auto written = write_chat(chat, messages);
        const auto& text = item.at("text");
        counts.equal += text == written ? 1 : 0;
        EXPECT_EQ(text.is_null() ? "(refused)" : text.get<std::string>(), written);
      } catch (const NotWritten& refusal) {
        ++counts.num_withheld;
        EXPECT_TRUE(item.at("text").is_null() || !chat.guards.empty()) << refusal.what();
      }
    }
  }
  return counts;
}

TEST(ChatPieces, write_what_transformers_writes_for_every_kind_of_template) {
  const auto counts =
      compare(base::parse_json(base::read_file(source + "/tests/chat/template_goldens.json"), "goldens"));
  EXPECT_GT(counts.equal, 700U);
  EXPECT_GT(counts.num_withheld, 20U);
}

/// Published templates, which are fetched and never committed: tests/chat/published.py names the file.
TEST(ChatPieces, write_what_transformers_writes_for_published_templates) {
  const auto* file = std::getenv("STEREOSWEEP_CHAT_CASES");
  if (file == nullptr) {
    GTEST_SKIP() << "STEREOSWEEP_CHAT_CASES names no file (tests/chat/published.py writes it)";
  }
  std::ifstream lines(file);
  Compared sum;
  for (std::string line; std::getline(lines, line);) {
    const auto counts = compare({{"templates", {base::parse_json(line, file)}}});
    sum.equal += counts.equal;
    sum.num_withheld += counts.num_withheld;
  }
  EXPECT_GT(sum.equal, 0U);
  std::cout << sum.equal << " conversations equal, " << sum.num_withheld << " withheld\n";
}

TEST(ChatPieces, write_many_conversations_a_second) {
  const auto chat = shipped("llama3");
  const std::vector<Message> messages = {
      {Role::user, " How tall is a giraffe? "}, {Role::assistant, "Five metres."}, {Role::user, "And a lamp post?\n"}};
  std::size_t bytes = 0;
  const ProcessorTime time;
  for (int i = 0; i < 100'000; ++i) {
    bytes += write_chat(chat, messages).size();
  }
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(time.seconds(), 10) << "100,000 conversations";
}

TEST(ChatSystem, is_the_templates_own_none_or_a_text) {
  ChatTemplate chat;
  EXPECT_TRUE(system_messages(chat, "default").empty());
  EXPECT_TRUE(system_messages(chat, "none").empty());
  EXPECT_EQ(system_messages(chat, "Be brief."), (std::vector<Message>{{Role::system, "Be brief."}}));
  chat.system.none = SystemTurn::None::empty;
  EXPECT_EQ(system_messages(chat, "none"), (std::vector<Message>{{Role::system, ""}}));
  chat.system.none = SystemTurn::None::refused;
  EXPECT_THROW(system_messages(chat, "none"), base::InputError);
  chat.system.handling = SystemTurn::Handling::refused;
  EXPECT_THROW(system_messages(chat, "Be brief."), base::InputError);
}

ChatTemplate thinking(ThoughtMarks::Begins begins) {
  ChatTemplate chat;
  chat.thought = ThoughtMarks{"<think>", "</think>", begins};
  return chat;
}

TEST(ChatThought, is_split_from_the_answer_at_its_last_closing_mark) {
  using Begins = ThoughtMarks::Begins;
  const auto before = thinking(Begins::before);
  EXPECT_EQ(split_thought(before, "Yes."), (SplitAnswer{"", "Yes.", false}));
  EXPECT_EQ(split_thought(before, "\n<think>\nA? B?\n</think>\n\nB."), (SplitAnswer{"\nA? B?\n", "B.", false}));
  EXPECT_EQ(split_thought(before, "<think>a</think>b</think>c"), (SplitAnswer{"a</think>b", "c", false}));
  EXPECT_EQ(split_thought(before, "<think>a, b, c"), (SplitAnswer{"a, b, c", "", true}));
  const auto inside = thinking(Begins::inside);
  EXPECT_EQ(split_thought(inside, "A?</think> B."), (SplitAnswer{"A?", " B.", false}));
  EXPECT_EQ(split_thought(inside, "A? B?"), (SplitAnswer{"A? B?", "", true}));
  EXPECT_EQ(split_thought(ChatTemplate(), "<think>a</think>b"), (SplitAnswer{"", "<think>a</think>b", false}));
}

TEST(ChatThought, options_are_asked_behind_a_closed_one_only) {
  auto chat = thinking(ThoughtMarks::Begins::before);
  chat.generation = "<|assistant|>\n";
  EXPECT_FALSE(begins_with_answer(chat));
  chat.generation += "<think>\n\n</think>\n\n";
  EXPECT_TRUE(begins_with_answer(chat));
  EXPECT_TRUE(begins_with_answer(ChatTemplate()));
}

TEST(ChatPieces, withhold_what_they_are_not_proven_for) {
  ChatTemplate chat;
  chat.guards = {"</think>"};
  chat.longest = 3;
  chat.assistant.text.emplace().empty.emplace().refused = true;
  EXPECT_THAT(problem_of(chat, Role::user, "a</think>"), ::testing::HasSubstr("</think>"));
  EXPECT_THAT(problem_of(chat, Role::assistant, ""), ::testing::HasSubstr("empty"));
  EXPECT_EQ(problem_of(chat, Role::user, ""), "");
  const Message user{Role::user, "a"};
  const Message answer{Role::assistant, "b"};
  EXPECT_NO_THROW(write_chat(chat, std::vector{user, answer, user}));
  EXPECT_THROW(write_chat(chat, std::vector{user, answer, user, answer, user}), NotWritten);
}

TEST(ChatPrompt, refuses_what_no_family_has) {
  const auto chat = shipped("chatml");
  EXPECT_THROW(write_chat(chat, {}), base::InputError);
  EXPECT_THROW(write_chat(chat, std::vector<Message>{{Role::assistant, "a"}}), base::InputError);
  EXPECT_THROW(write_chat(chat, std::vector<Message>{{Role::system, "a"}}), base::InputError);
  EXPECT_THROW(write_chat(chat, std::vector<Message>{{Role::user, "a"}, {Role::system, "b"}, {Role::user, "c"}}),
               base::InputError);
}

TEST(ChatPrompt, says_which_control_tokens_a_user_wrote) {
  EXPECT_THAT(control_tokens_in(shipped("llama3"), "see <|eot_id|> here"), testing::ElementsAre("<|eot_id|>"));
  EXPECT_THAT(control_tokens_in(shipped("llama3"), "see <|im_end|> here"), testing::IsEmpty());
}

}  // namespace
}  // namespace stereosweep::chat
