#include "config/ChatKeys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files/File.hpp"
#include "chat/TemplateChild.hpp"
#include "chat/TemplateSource.hpp"
#include "chat/Writing.hpp"
#include "config/yaml/Fields.hpp"
#include "support/Places.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string own_template =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{% endfor %}[assistant]";

/// A model directory, and a cache of its own.
class ChatChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_.path() / "model");
    ::setenv("XDG_CACHE_HOME", (directory_.path() / "cache").c_str(), 1);
  }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    std::ofstream(directory_.path() / name) << text;
  }
  std::string model() const { return (directory_.path() / "model").string(); }
  std::string text_of(const std::string& name = "") { return chat::find_template(model(), name).value().text; }
  std::string refusal() {
    try {
      return "found: " + find_checkpoint_chat(model()).label;
    } catch (const base::InputError& error) {
      return error.what();
    }
  }
  std::string prompt() {
    return chat::write_chat(find_checkpoint_chat(model()), std::vector<chat::Message>{{chat::Role::user, " Hi \n"}});
  }
  stereosweep::testing::TemporaryDirectory directory_;
};

TEST_F(ChatChoice, takes_the_file_that_transformers_takes) {
  write("model/tokenizer_config.json", R"({"chat_template": "from the config"})");
  EXPECT_EQ(text_of(), "from the config");
  write("model/tokenizer_config.json",
        R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": "of a list"}]})");
  EXPECT_EQ(text_of(), "of a list");
  EXPECT_EQ(text_of("tools"), "x");
  write("model/chat_template.json", R"({"chat_template": "of a processor"})");
  EXPECT_EQ(text_of(), "of a processor");
  write("model/additional_chat_templates/rag.jinja", "for documents");
  write("model/chat_template.jinja", "a file");
  EXPECT_EQ(text_of(), "a file");
  EXPECT_EQ(text_of("rag"), "for documents");
  EXPECT_THAT([&] { text_of("other"); },
              ::testing::ThrowsMessage<base::InputError>(AllOf(HasSubstr("default, rag"), HasSubstr("chat_name"))));
}

TEST_F(ChatChoice, reads_the_special_tokens_that_there_are) {
  write("model/chat_template.jinja", own_template);
  write("model/tokenizer_config.json",
        R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null, "add_bos_token": true})");
  const auto source = chat::find_template(model(), "").value();
  EXPECT_EQ(source.tokens, (std::map<std::string, std::string>{{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  EXPECT_EQ(prompt(), "<s>[user]Hi[assistant]");
  write("model/tokenizer_config.json", R"({"bos_token": null})");
  EXPECT_EQ(prompt(), "[user]Hi[assistant]");
}

TEST_F(ChatChoice, never_guesses) {
  EXPECT_THAT(refusal(), HasSubstr("no chat template is known"));
  write("model/tokenizer_config.json", R"({"chat_template": [{"name": "tools", "template": "x"}]})");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no chat template 'default'"), HasSubstr("it has tools")));
  write("model/tokenizer_config.json", R"({"chat_template": 7})");
  EXPECT_THAT(refusal(), HasSubstr("neither a text nor a list"));
  write("model/tokenizer_config.json", "{");
  EXPECT_THAT(refusal(), HasSubstr("tokenizer_config.json"));
  write("model/chat_template.jinja", "{% for m in messages %}{{ m.content | upper }}{% endfor %}");
  write("model/tokenizer_config.json", "{}");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cannot be used"), HasSubstr("model.chat: NAME")));
  write("model/chat_template.jinja", "{% if %}");
  EXPECT_THAT(refusal(), HasSubstr("no valid one"));
}

TEST_F(ChatChoice, keeps_pieces_in_a_cache_and_makes_damaged_ones_anew) {
  write("model/chat_template.jinja", own_template);
  const auto chat = find_checkpoint_chat(model());
  const auto folder = directory_.path() / "cache" / "stereosweep" / "chat";
  const auto entry = std::filesystem::directory_iterator(folder)->path();
  ::setenv("STEREOSWEEP_PYTHON", "/nowhere/python", 1);
  EXPECT_EQ(find_checkpoint_chat(model()), chat) << "no Python is needed";
  std::ofstream(entry, std::ios::app) << " ";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("/nowhere/python"), HasSubstr("Jinja2"), HasSubstr("model.chat: NAME")));
  ::unsetenv("STEREOSWEEP_PYTHON");
  EXPECT_EQ(find_checkpoint_chat(model()), chat);
}

TEST_F(ChatChoice, a_template_that_does_what_none_may_is_refused) {
  for (const std::string body :
       {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "{{ 'x' * 10000000000 }}",
        "{{ messages.append(1) }}", "{{ ''.__class__.__mro__ }}", "{% include '/etc/passwd' %}"}) {
    write("model/chat_template.jinja", body + own_template);
    EXPECT_THAT(refusal(), HasSubstr("cannot be used")) << body;
  }
}

TEST_F(ChatChoice, renders_conversations_with_the_template_itself) {
  write("model/chat_template.jinja", own_template + "{{ raise_exception('no') if messages[0].content == 'no' }}");
  const auto source = chat::find_template(model(), "").value();
  const std::vector<std::vector<chat::Message>> asked = {{{chat::Role::assistant, "a"}, {chat::Role::user, "b"}},
                                                         {{chat::Role::user, "no"}}};
  const auto rendered = chat::render_with_template(source, {"2026-11-26"}, asked);
  EXPECT_EQ(std::get<std::string>(rendered.at(0)), "[assistant]a[user]b[assistant]");
  EXPECT_EQ(std::get<chat::Refusal>(rendered.at(1)).why, "no");
}

TEST(ChatPiece, shipped_templates_have_their_names) {
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
  auto templates = std::vector{find_chat("llama2", jobs), find_chat("falcon", jobs), find_chat("gemma", jobs)};
  const auto file = std::filesystem::path(source_directory()) / "tests/chat/template_goldens.json";
  const auto goldens = base::parse_json(base::read_file(file), "goldens");
  for (const auto& one : goldens.at("templates")) {
    templates.push_back(read_pieces(one.at("pieces").dump()));
  }
  for (const auto& chat : templates) {
    base::Problems problems;
    chat::ChatTemplate again;
    read_fields(dump_fields(chat), "chat", problems, again);
    EXPECT_EQ(again, chat) << chat.label;
    EXPECT_TRUE(problems.empty()) << chat.label;
  }
}

}  // namespace
}  // namespace stereosweep::config
