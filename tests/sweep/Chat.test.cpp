#include "sweep/Chat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "config/Chat.hpp"
#include "support/Places.hpp"

namespace stereosweep::sweep {
namespace {

const std::string source = source_directory();

ChatTemplate shipped(const std::string& name) { return config::find_chat(name, source + "/jobs"); }

Role role_of(const std::string& name) {
  return name == "system" ? Role::system : name == "user" ? Role::user : Role::assistant;
}

TEST(ChatPrompt, equals_transformers_for_every_shipped_template) {
  const auto goldens = base::parse_json(base::read_file(source + "/tests/sweep/chat_goldens.json"), "goldens");
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
}  // namespace stereosweep::sweep
