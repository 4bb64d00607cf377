#include "config/Chat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files/Sha256.hpp"
#include "config/yaml/Fields.hpp"
#include "support/Places.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::config {
namespace {

using ::testing::HasSubstr;

const std::string our_template = "{{ '[A] ' + message['content'] }}";

/// A model directory and, beside it, configs/chat with one template that knows `our_template`.
class ChatChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    write("configs/chat/ours.yaml",
          "schema: stereosweep/1\nchat:\n  system: {}\n  user: {prefix: '[A] '}\n  assistant: {}\n  marks: ['[A]']\n"
          "  known_texts: [" +
              base::to_hex(base::sha256(normalised_chat_text(our_template))) + "]\n");
    std::filesystem::create_directories(directory_.path() / "jobs");
  }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    std::ofstream(directory_.path() / name) << text;
  }
  std::string chosen() {
    return find_checkpoint_chat((directory_.path() / "model").string(), directory_.path() / "jobs").label;
  }
  std::string refusal() {
    try {
      return "chosen: " + chosen();
    } catch (const base::InputError& error) {
      return error.what();
    }
  }
  stereosweep::testing::TemporaryDirectory directory_;
};

TEST_F(ChatChoice, knows_a_text_wherever_it_stands_and_however_it_is_laid_out) {
  write("model/tokenizer_config.json", R"({"chat_template": "{{ '[A] ' + message['content'] }}"})");
  EXPECT_EQ(chosen(), "ours");
  write(
      "model/tokenizer_config.json",
      R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": "{{'[A] '\n+message['content']}}\n"}]})");
  EXPECT_EQ(chosen(), "ours");
  write("model/tokenizer_config.json", R"({"chat_template": null})");
  write("model/chat_template.json", R"({"chat_template": "{{ '[A] ' + message['content'] }}"})");
  EXPECT_EQ(chosen(), "ours");
  write("model/chat_template.jinja", "another");
  EXPECT_THAT(refusal(), HasSubstr("not a known one")) << "the file comes before the JSON";
}

TEST_F(ChatChoice, never_guesses) {
  std::filesystem::create_directories(directory_.path() / "model");
  EXPECT_THAT(refusal(), HasSubstr("no chat template is known"));
  write("model/chat_template.jinja", "{{ '[A]' + message['content'] }}");  // one space less: another prompt
  EXPECT_THAT(refusal(), ::testing::AllOf(HasSubstr("not a known one"), HasSubstr("It looks like ours"),
                                          HasSubstr("or none for a base model")));
  std::filesystem::remove(directory_.path() / "model/chat_template.jinja");
  write("model/tokenizer_config.json", R"({"chat_template": [{"name": "tools", "template": "x"}]})");
  EXPECT_THAT(refusal(), HasSubstr("neither a text nor a list with a 'default'"));
  write("model/tokenizer_config.json", "{");
  EXPECT_THAT(refusal(), HasSubstr("cannot be read"));
}

TEST_F(ChatChoice, refuses_a_known_text_that_would_begin_with_another_token) {
  const std::string text = "{{ bos_token + '[A] ' + message['content'] }}";
  write("configs/chat/ours.yaml",
        "schema: stereosweep/1\nchat:\n  opening: <s>\n  system: {}\n  user: {prefix: '[A] '}\n  assistant: {}\n"
        "  control_tokens: [<s>]\n  known_texts: [" +
            base::to_hex(base::sha256(normalised_chat_text(text))) + "]\n");
  write("model/chat_template.jinja", text);
  EXPECT_EQ(chosen(), "ours") << "nothing says otherwise";
  write("model/tokenizer_config.json", R"({"bos_token": {"content": "<s>"}})");
  EXPECT_EQ(chosen(), "ours");
  write("model/tokenizer_config.json", R"({"bos_token": "<bos>"})");
  EXPECT_THAT(refusal(), ::testing::AllOf(HasSubstr("\"<bos>\""), HasSubstr("begins with \"<s>\"")));
  write("model/tokenizer_config.json", R"({"bos_token": null})");
  EXPECT_THAT(refusal(), HasSubstr("is \"\""));
}

TEST(ChatText, is_normalised_outside_of_quotes_only) {
  EXPECT_EQ(normalised_chat_text("{{ 'a  b' }}\n{{ \"c 'd\" }}"), "{{'a  b'}}{{\"c 'd\"}}");
  EXPECT_EQ(normalised_chat_text("{{ 'a\nb' }}"), normalised_chat_text("{{ 'a\\nb' }}"));
  EXPECT_NE(normalised_chat_text("{{ 'a ' }}"), normalised_chat_text("{{ 'a' }}"));
}

TEST(ChatPiece, shipped_templates_have_hashes_and_marks_of_their_own) {
  const auto jobs = std::filesystem::path(source_directory()) / "jobs";
  for (const std::string name : {"llama2", "llama3", "mistral", "mistral_v01", "chatml", "falcon", "gemma", "phi3"}) {
    const auto chat = find_chat(name, jobs);
    EXPECT_EQ(chat.label, name);
    EXPECT_FALSE(chat.user.prefix.empty());
  }
  EXPECT_THROW(find_chat("llama4", jobs), base::InputError);
}

TEST(ChatDump, reads_back_as_the_same_template) {
  const auto jobs = std::filesystem::path(source_directory()) / "jobs";
  for (const std::string name : {"llama2", "falcon", "gemma"}) {
    const auto chat = find_chat(name, jobs);
    base::Problems problems;
    Pieces pieces(jobs, Pieces::Access::inline_only);
    EXPECT_EQ(read_model_chat(dump_fields(chat), "", pieces, problems), chat);
    EXPECT_TRUE(problems.empty());
  }
}

}  // namespace
}  // namespace stereosweep::config
