// Directories without tokenizer.json.
#include "tokenizer/Definition.hpp"

#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "tokenizer/FilesWith.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nCafe\ncafe\nCafé\n";
const std::string words_as_json =
    R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"Ġ":5,"Ġa":6,"<mask>":7,"<|endoftext|>":8})";
const std::string merges = "#version: 0.2\nĠ a\n";

TEST(VocabularyLines, AreBertAndLowercaseUnlessToldOtherwise) {
  EXPECT_THAT(Tokenizer::from_files(files_with({{"vocab.txt", lines}})).encode("Café [MASK]", SpecialTokens::add).ids,
              ElementsAre(2, 6, 4, 3));
  const auto cased = Tokenizer::from_files(
      files_with({{"vocab.txt", lines}, {"tokenizer_config.json", R"({"do_lower_case":false})"}}));
  EXPECT_THAT(cased.encode("Café [MASK]", SpecialTokens::add).ids, ElementsAre(2, 7, 4, 3));
  const auto stripped = Tokenizer::from_files(
      files_with({{"vocab.txt", lines}, {"tokenizer_config.json", R"({"do_lower_case":false,"strip_accents":true})"}}));
  EXPECT_THAT(stripped.encode("Café", SpecialTokens::leave_out).ids, ElementsAre(5));
}

TEST(VocabularyAndMerges, FollowTheFamily) {
  const auto roberta = Tokenizer::from_files(files_with(
      {{"vocab.json", words_as_json}, {"merges.txt", merges}, {"config.json", R"({"model_type":"roberta"})"}}));
  EXPECT_THAT(roberta.encode("a a <mask>", SpecialTokens::add).ids, ElementsAre(0, 4, 6, 7, 2));
  const auto gpt2 = Tokenizer::from_files(
      files_with({{"vocab.json", words_as_json}, {"merges.txt", merges}, {"config.json", R"({"model_type":"gpt2"})"}}));
  EXPECT_THAT(gpt2.encode("a<|endoftext|> a", SpecialTokens::add).ids, ElementsAre(4, 8, 6));
}

TEST(Definition, NamesWhatIsMissing) {
  EXPECT_THAT([] { read_definition(files_with({})); }, ThrowsMessage<base::InputError>(HasSubstr("tokenizer.json")));
  EXPECT_THAT(
      [] {
        read_definition(files_with({{"vocab.json", words_as_json}, {"merges.txt", merges}}));
      },
      ThrowsMessage<base::InputError>(HasSubstr("config.json:model_type")));
  EXPECT_THAT(
      [] {
        read_definition(files_with({{"vocab.txt", "[PAD]\n[UNK]\n"}}));
      },
      ThrowsMessage<base::InputError>(HasSubstr("\"[CLS]\" is missing")));
  EXPECT_THAT(
      [] {
        read_definition(files_with({{"tokenizer.model", "x"}}));
      },
      ThrowsMessage<base::InputError>(HasSubstr("tokenizer.model")));
}

TEST(Definition, NamesTheFileThatAFaultIsIn) {
  const auto complaint = [](const std::vector<std::pair<std::string, std::string>>& more) {
    std::vector<std::pair<std::string, std::string>> all = {{"vocab.json", words_as_json},
                                                            {"config.json", R"({"model_type":"gpt2"})"}};
    all.insert(all.end(), more.begin(), more.end());
    try {
      Tokenizer::from_files(files_with(all));
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint({{"merges.txt", "Ġ b\n"}}), HasSubstr("/vocab.json with merges.txt:model.merges[0]"));
  EXPECT_THAT(complaint({{"merges.txt", merges}, {"added_tokens.json", R"({"<x>":77})"}}),
              HasSubstr("/added_tokens.json:<x>: \"<x>\" has id 77"));
  EXPECT_THAT(complaint({{"merges.txt", merges},
                         {"tokenizer_config.json", R"({"added_tokens_decoder":{"77":{"content":"<x>"}}})"}}),
              HasSubstr("/tokenizer_config.json:added_tokens_decoder: \"<x>\" has id 77"));
  EXPECT_THAT(complaint({{"merges.txt", merges},
                         {"tokenizer_config.json", R"({"added_tokens_decoder":{"9":{"content":"<x>","special":1}}})"}}),
              HasSubstr("tokenizer_config.json:added_tokens"));
  EXPECT_THAT(complaint({{"merges.txt", std::string(1000000, 'b') + " b\n"}}).size(), testing::Lt(5000U));
}

TEST(NamedToken, IsATextOrAnObject) {
  const auto mask = [](const std::string& name, const std::string& content) {
    return read_definition(files_with({{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\n"}, {name, content}})).mask_token;
  };
  EXPECT_EQ(mask("tokenizer_config.json", R"({"mask_token":"<m>"})"), "<m>");
  EXPECT_EQ(mask("special_tokens_map.json", R"({"mask_token":{"content":"<n>"}})"), "<n>");
  EXPECT_EQ(mask("tokenizer_config.json", "{}"), std::nullopt);
}

TEST(NoTokenizer, TheMessageSaysHowToGetOne) {
  EXPECT_THAT(
      [] {
        Tokenizer::from_files(files_with({{"spm.model", "x"}}));
      },
      ThrowsMessage<base::InputError>(HasSubstr("tokenizer.json is missing (nor is there a vocab.txt, a "
                                                "vocab.json with merges.txt, or a tokenizer.model). "
                                                "Transformers writes one from spm.model")));
  base::FileSet fetched("/cache/models--org--model/snapshots/" + std::string(40, 'a'));
  EXPECT_THAT([&] { Tokenizer::from_files(fetched); },
              ThrowsMessage<base::InputError>(HasSubstr("Fetch what is missing: hf download org/model")));
}

}  // namespace
}  // namespace stereosweep::tokenizer
