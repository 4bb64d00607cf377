// The whole engine on small vocabularies, worked out by hand; the wheel's answers: tests/integration.
#include "tokenizer/Tokenizer.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/Error.hpp"
#include "base/text/Json.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr auto bert = R"({
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                 "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "added_tokens": [{"id": 3, "content": "[MASK]", "special": true, "normalized": false, "single_word": false,
                    "lstrip": false, "rstrip": false}],
  "truncation": {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
  "padding": {"strategy": {"Fixed": 128}, "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3, "play": 4, "##ing": 5, "cafe": 6, ".": 7}}})";

constexpr auto byte_level = R"({
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
  "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": true,
                     "add_prefix_space": false},
  "decoder": {"type": "ByteLevel"},
  "added_tokens": [{"id": 99, "content": "<mask>", "special": true, "normalized": false, "single_word": false,
                    "lstrip": true, "rstrip": false}],
  "model": {"vocab": {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "Ġ": 4, "ab": 5, "Ġab": 6, "Ã": 7, "©": 8},
            "merges": ["a b", ["Ġ", "ab"]]}})";

Tokenizer make(const std::string& json) {
  base::FileSet files("models/x");
  files.add("tokenizer.json", base::to_shared(json));
  return Tokenizer::from_files(files);
}

Tokenizer make_changed(const char* text, const base::Json& patch) {
  auto json = base::Json::parse(text);
  json.merge_patch(patch);
  return make(json.dump());
}

base::Span span(std::size_t begin, std::size_t end) { return {begin, end}; }

TEST(Bert, SplitsWordsAndKeepsByteOffsets) {
  const auto encoding = make(bert).encode("Playing [MASK] Café.", SpecialTokens::add);
  EXPECT_THAT(encoding.ids, ElementsAre(1, 4, 5, 3, 6, 7, 2));
  EXPECT_THAT(encoding.offsets,
              ElementsAre(span(0, 0), span(0, 4), span(4, 7), span(8, 14), span(15, 20), span(20, 21), span(0, 0)));
}

TEST(Bert, IgnoresTruncationAndPadding) {
  EXPECT_THAT(make(bert).encode("play play play", SpecialTokens::leave_out).ids, ElementsAre(4, 4, 4));
}

TEST(Bert, UnspellableWordsAreOneUnknownToken) {
  EXPECT_THAT(make(bert).encode("playx play", SpecialTokens::leave_out).ids, ElementsAre(0, 4));
  EXPECT_THAT(make(bert).encode("play" + std::string(99, 'x'), SpecialTokens::leave_out).ids, ElementsAre(0));
}

TEST(Bert, DecodesWithItsCleanUp) {
  const auto tokenizer = make(bert);
  const std::vector<TokenId> ids = {1, 4, 5, 6, 7, 3};
  EXPECT_EQ(tokenizer.decode(ids, Tokenizer::Special::keep), "[CLS] playing cafe. [MASK]");
  EXPECT_EQ(tokenizer.decode(ids, Tokenizer::Special::skip), "[CLS] playing cafe.");  // only added ones are special
}

TEST(Bert, KnowsMaskUnknownAndClasses) {
  const auto tokenizer = make(bert);
  EXPECT_EQ(tokenizer.mask_token(), "[MASK]");
  EXPECT_EQ(tokenizer.mask_id(), 3);
  EXPECT_EQ(tokenizer.unknown_id(), 0);
  EXPECT_EQ(tokenizer.size(), 8U);
  EXPECT_EQ(tokenizer.classes()[5], TokenClass::continuation);
  EXPECT_EQ(tokenizer.classes()[1], TokenClass::initial);
}

TEST(ByteLevel, MergesWithoutTypeAndWithPairs) {
  const auto tokenizer = make(byte_level);
  const auto encoding = tokenizer.encode("ab ab", SpecialTokens::add);
  EXPECT_THAT(encoding.ids, ElementsAre(0, 5, 6, 1));
  EXPECT_THAT(encoding.offsets, ElementsAre(span(0, 0), span(0, 2), span(3, 5), span(0, 0)));
  EXPECT_EQ(tokenizer.classes()[6], TokenClass::initial);
  EXPECT_EQ(tokenizer.classes()[5], TokenClass::continuation);
  EXPECT_EQ(tokenizer.classes()[0], TokenClass::continuation);
}

TEST(ByteLevel, MaskTakesTheSpaceBeforeItAndTheNextFreeId) {
  const auto tokenizer = make(byte_level);
  const auto encoding = tokenizer.encode("ab <mask>", SpecialTokens::leave_out);
  EXPECT_THAT(encoding.ids, ElementsAre(5, 9));  // the file says 99, nine tokens are there
  EXPECT_THAT(encoding.offsets, ElementsAre(span(0, 2), span(3, 9)));
  EXPECT_EQ(tokenizer.mask_id(), 9);
}

TEST(ByteLevel, BytesOfACharacterShareItsOffset) {
  const auto encoding = make(byte_level).encode("aé", SpecialTokens::leave_out);
  EXPECT_THAT(encoding.ids, ElementsAre(2, 7, 8));
  EXPECT_THAT(encoding.offsets, ElementsAre(span(0, 1), span(1, 3), span(1, 3)));
}

TEST(AddedTokens, DoNotReturnToWhiteSpaceThatIsTaken) {
  const auto tokenizer = make_changed(bert, base::Json::parse(R"({"added_tokens": [
      {"id": 8, "content": "<x>", "normalized": false, "rstrip": true},
      {"id": 9, "content": "  ", "normalized": false, "lstrip": true}]})"));
  const auto encoding = tokenizer.encode("<x>   play", SpecialTokens::leave_out);
  EXPECT_THAT(encoding.ids, ElementsAre(8, 4));
  EXPECT_THAT(encoding.offsets, ElementsAre(span(0, 6), span(6, 10)));
}

TEST(UnknownPieces, TrimsOffsetsByTheTextOfUnknownTokens) {
  const auto tokenizer = make(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1]]},
                                  "post_processor": {"type": "ByteLevel", "trim_offsets": true,
                                                     "add_prefix_space": false}})");
  const auto encoding = tokenizer.encode("a b a", SpecialTokens::leave_out);
  EXPECT_THAT(encoding.ids, ElementsAre(1, 0, 1));
  EXPECT_THAT(encoding.offsets, ElementsAre(span(0, 1), span(2, 3), span(4, 5)));
}

// Joins the first of the best-ranked pairs until none is left; unknown neighbours are one token.
std::vector<query::TokenId> joined_one_by_one(const base::Json& model, const std::string& text) {
  std::vector<std::string> symbols;
  for (const char letter : text) {
    const bool known = model["vocab"].contains(std::string(1, letter));
    if (known || symbols.empty() || symbols.back() != "?") {
      symbols.push_back(known ? std::string(1, letter) : "?");
    }
  }
  for (const auto& merge :
       model["merges"]) {  // in the order of their ranks: what joins later never makes an earlier pair
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (symbols[i] == merge[0] && symbols[i + 1] == merge[1]) {
        symbols[i] += symbols[i + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  std::vector<query::TokenId> ids;
  for (const auto& symbol : symbols) {
    ids.push_back(model["vocab"][symbol].get<query::TokenId>());
  }
  return ids;
}

TEST(BytePairs, GiveTheSameTokensInParts) {
  const auto model = base::Json::parse(R"({"type": "BPE", "unk_token": "?", "fuse_unk": true,
      "vocab": {"?": 0, "a": 1, "b": 2, "c": 3, "_": 4, "ab": 5, "b_": 6, "_a": 7, "_ab": 8, "ca": 9, "cab_": 10, "ca_": 11,
                "cab": 12, "__": 13},
      "merges": [["_", "_"], ["a", "b"], ["_", "ab"], ["b", "_"], ["_", "a"], ["c", "a"], ["c", "ab"], ["cab", "_"]]})");
  const auto tokenizer = make(base::Json({{"model", model}}).dump());
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto length = 60 + random() % 80; length > 0; --length) {
      text += "aabbccx__y"[random() % 10];
    }
    EXPECT_EQ(tokenizer.encode(text, SpecialTokens::leave_out).ids, joined_one_by_one(model, text)) << text;
  }
}

// As the wheel has it: nothing says where the characters without token stood.
TEST(BytePairs, ShiftOffsetsBehindDroppedCharacters) {
  const auto tokenizer = make(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})");
  const auto text = "xb" + std::string(70, 'a');
  const auto encoding = tokenizer.encode(text, SpecialTokens::leave_out);
  ASSERT_EQ(encoding.ids.size(), 71U);
  EXPECT_EQ(encoding.offsets.front(), span(0, 1));
  EXPECT_EQ(encoding.offsets.back(), span(70, 71));
}

TEST(LastToken, IsWhatIsPutBehindEveryText) {
  EXPECT_EQ(make(bert).last_token(), 2);
  const auto plain = make_changed(bert, base::Json::parse(R"({"post_processor": null})"));
  EXPECT_EQ(plain.last_token(), std::nullopt);
  const auto behind = make_changed(bert, base::Json::parse(R"({"post_processor": {"type": "TemplateProcessing",
      "cls": null, "sep": null, "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]"}}],
      "special_tokens": {"[SEP]": {"ids": [2]}}}})"));
  EXPECT_EQ(behind.last_token(), 2);
}

TEST(Encode, RefusesInvalidUtf8) {
  EXPECT_THAT([] { make(bert).encode("ab\xFF", SpecialTokens::add); },
              ThrowsMessage<base::InputError>(HasSubstr("byte 2")));
}

TEST(Encode, TakesAMegabyteOfOneCharacter) {
  const std::string run(1 << 20, 'a');
  EXPECT_EQ(make(byte_level).encode(run, SpecialTokens::leave_out).ids.size(), run.size());
  EXPECT_THAT(make(bert).encode(run, SpecialTokens::leave_out).ids, ElementsAre(0));
}

TEST(Encode, AnswersTheSameFromSeveralThreads) {
  const auto tokenizer = make(byte_level);
  const auto expected = tokenizer.encode("ab ab ba <mask>", SpecialTokens::add).ids;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        wrong += tokenizer.encode("ab ab ba <mask>", SpecialTokens::add).ids == expected ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

struct Refusal {
  const char* patch;
  const char* message;
};

TEST(FromFiles, NamesFileFieldAndComponent) {
  const std::vector<Refusal> cases = {
      {R"({"normalizer": {"type": "Nmt"}})", "models/x/tokenizer.json:normalizer.type: component \"Nmt\""},
      {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}})", "the trie's size does not fit"},
      {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "A*=="}})", "no base64 digit"},
      {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}]}})",
       "pre_tokenizer.pretokenizers[0].type: component \"UnicodeScripts\""},
      {R"({"model": {"type": "Odd"}})", "model.type: component \"Odd\""},
      {R"({"model": {"type": "Unigram"}})", "model.vocab: is an object (a list is needed)"},
      {R"({"decoder": {"type": "CTC"}})", "decoder.type: component \"CTC\""},
      {R"({"post_processor": {"type": "Odd"}})", "post_processor.type: component \"Odd\""},
      {R"({"post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 8]}})", "adds id 8"},
      {R"({"model": {"vocab": {"x": 3}}})", "id 3 stands for"},
      {R"({"model": {"vocab": {"x": -1}}})", "model.vocab"},
      {R"({"model": {"vocab": {"x": 4000000000}}})", "model.vocab"},
      {R"({"model": {"unk_token": "[OOV]"}})", "[OOV]"},
      {R"({"model": {"max_input_chars_per_word": -3}})", "model.max_input_chars_per_word"},
      {R"({"added_tokens": [{"content": 5}]})", "added_tokens[0].content"},
      {R"({"normalizer": {"lowercase": "yes"}})", "normalizer.lowercase"},
  };
  for (const auto& [patch, message] : cases) {
    EXPECT_THAT([&] { make_changed(bert, base::Json::parse(patch)); },
                ThrowsMessage<base::InputError>(HasSubstr(message)));
  }
  EXPECT_THAT([] { make_changed(byte_level, base::Json::parse(R"({"model": {"merges": ["a x"]}})")); },
              ThrowsMessage<base::InputError>(HasSubstr("model.merges[0]")));
  EXPECT_THAT([] { make_changed(byte_level, base::Json::parse(R"({"model": {"dropout": 0.1}})")); },
              ThrowsMessage<base::InputError>(HasSubstr("model.dropout")));
}

}  // namespace
}  // namespace stereosweep::tokenizer
