#include "tokenizer/ChatTemplate.hpp"

#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "tokenizer/FilesWith.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::ThrowsMessage;

constexpr auto one = R"({"chat_template": "{{ turn }}"})";
constexpr auto two = R"({"chat_template": [{"name": "default", "template": "a"}, {"name": "tools", "template": "b"}]})";

TEST(ChatTemplates, AreATextOrAList) {
  EXPECT_THAT(read_chat_templates(files_with({})), IsEmpty());
  EXPECT_THAT(read_chat_templates(files_with({{"tokenizer_config.json", "{}"}})), IsEmpty());
  EXPECT_THAT(read_chat_templates(files_with({{"tokenizer_config.json", one}})),
              ElementsAre(Pair("default", "{{ turn }}")));
  EXPECT_THAT(read_chat_templates(files_with({{"tokenizer_config.json", two}})),
              ElementsAre(Pair("default", "a"), Pair("tools", "b")));
}

TEST(ChatTemplates, FilesOfTheirOwnComeFirst) {
  EXPECT_THAT(read_chat_templates(files_with({{"tokenizer_config.json", two}, {"chat_template.json", one}})),
              ElementsAre(Pair("default", "{{ turn }}")));
  EXPECT_THAT(read_chat_templates(files_with({{"chat_template.json", one}, {"chat_template.jinja", "{% x %}\n"}})),
              ElementsAre(Pair("default", "{% x %}\n")));
}

TEST(ChatTemplates, NameFileAndFieldOfWhatIsMalformed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"chat_template": 5})", "models/x/tokenizer_config.json:chat_template"},
      {R"({"chat_template": [{"name": "a"}]})", "chat_template[0]: \"template\" is missing"},
      {R"({"chat_template": [{"name": "a", "template": ""}, {"name": "a", "template": ""}]})", "chat_template[1].name"},
      {R"([])", "models/x/tokenizer_config.json"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(
        [&] {
          read_chat_templates(files_with({{"tokenizer_config.json", text}}));
        },
        ThrowsMessage<base::InputError>(HasSubstr(message)));
  }
  EXPECT_THAT(
      [] {
        read_chat_templates(files_with({{"chat_template.jinja", "a\xFF"}}));
      },
      ThrowsMessage<base::InputError>(HasSubstr("byte 1")));
}

}  // namespace
}  // namespace stereosweep::tokenizer
