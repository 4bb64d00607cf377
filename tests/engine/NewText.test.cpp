#include "engine/causal/NewText.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/Error.hpp"
#include "base/text/JsonValue.hpp"
#include "engine/CausalTokenizer.hpp"
#include "engine/causal/GenerationConfig.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NewTextTest : public ::testing::Test {
 protected:
  // Adds tokens until the text is finished.
  query::GenerateAnswer grown(const std::vector<TokenId>& ids, std::vector<std::string> stop,
                              std::int32_t max_new_tokens = 100) {
    const query::Generate asked{"", max_new_tokens, 0, 0, 1, 0, std::move(stop), query::Framing::tokenizer};
    NewText text(asked, tokenizer, end_tokens);
    added = 0;
    for (const auto id : ids) {
      if (text.is_finished()) {
        break;
      }
      text.add(id, -1.0 - added);  // -1, -2, ...
      ++added;
    }
    return text.take();
  }

  // The same of a text with a thought of `limit` tokens and an answer of `answer_tokens`.
  query::GenerateAnswer thought(const std::string& drawn, const query::ThoughtLimit& limit, std::int32_t answer_tokens,
                                std::vector<std::string> stop = {}) {
    query::Generate asked{"", answer_tokens, 0, 0, 1, 0, std::move(stop), query::Framing::tokenizer};
    query::limit_thought(asked, limit);
    NewText text(asked, tokenizer, end_tokens);
    added = 0;
    for (auto next = drawn.begin(); !text.is_finished();) {
      if (const auto given = text.given()) {
        text.add(*given, 0);
      } else if (next != drawn.end()) {
        text.add(byte(*next++), -1.0);
        ++added;
      } else {
        break;
      }
    }
    EXPECT_LE(std::ssize(text.ids()), asked.max_new_tokens);
    return text.take();
  }

  static TokenId byte(char value) { return 2 + static_cast<unsigned char>(value); }
  std::vector<TokenId> bytes(const std::string& text) const {
    std::vector<TokenId> ids;
    for (const char value : text) {
      ids.push_back(byte(value));
    }
    return ids;
  }

  tokenizer::Tokenizer tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  std::vector<TokenId> end_tokens = {1};
  int added = 0;
};

TEST_F(NewTextTest, AnEndTokenIsNoPartOfTheAnswer) {
  const auto answer = grown({byte('a'), byte('b'), 1, byte('c')}, {});
  EXPECT_THAT(answer.ids, ElementsAre(byte('a'), byte('b')));
  EXPECT_EQ(answer.text, "ab");
  EXPECT_EQ(added, 3);
  EXPECT_THAT(grown({1}, {"x"}).ids, IsEmpty());
  EXPECT_EQ(grown({byte('a'), 0, byte('b')}, {}).text, "ab");  // special tokens are no text
}

TEST_F(NewTextTest, TheTextEndsBeforeTheFirstStopString) {
  const auto answer = grown(bytes("one.\n\ntwo"), {"\n\n", "two"});
  EXPECT_EQ(answer.text, "one.");
  EXPECT_EQ(answer.ids, bytes("one.\n\n"));  // with the token that completes it
  const TokenId the = tokenizer.id_of("\xC4\xA0the").value();
  EXPECT_EQ(grown({byte('x'), the, byte('y')}, {"he", "t"}).text, "x ");
  EXPECT_THAT(grown({byte('x'), the, byte('y')}, {"he"}).ids, ElementsAre(byte('x'), the));
  EXPECT_EQ(grown(bytes("abc"), {"d"}).text, "abc");
  EXPECT_EQ(grown(bytes("abc"), {"a"}).text, "");
  EXPECT_EQ(grown(bytes("xyz"), {"z"}, 3).text, "xy");
}

TEST_F(NewTextTest, CharactersAcrossTokensAreWhole) {
  const auto answer = grown(bytes("caf\xC3\xA9!"), {"\xC3\xA9"});
  EXPECT_EQ(answer.text, "caf");
  EXPECT_EQ(answer.ids, bytes("caf\xC3\xA9"));
  EXPECT_EQ(grown(bytes("caf\xC3"), {}).text, "caf\xEF\xBF\xBD");
  EXPECT_EQ(grown(bytes("\xE6\x97"), {"x"}).text, "\xEF\xBF\xBD");
}

TEST_F(NewTextTest, StopsAtMaxNewTokens) {
  EXPECT_EQ(grown(bytes("abcdef"), {}, 4).text, "abcd");
  EXPECT_EQ(grown(bytes("abcdef"), {}, 0).text, "");
  EXPECT_EQ(added, 0);
}

TEST_F(NewTextTest, TellsWhatEndedTheTextAndItsMeanLogProbability) {
  const auto ended = grown({byte('a'), byte('b'), 1, byte('c')}, {});
  EXPECT_EQ(ended.ended, query::Ending::end_token);
  EXPECT_EQ(ended.mean_logprob, -2);  // of -1, -2 and the end token's -3
  const auto stopped = grown(bytes("one two"), {" "});
  EXPECT_EQ(stopped.ended, query::Ending::stop);
  EXPECT_EQ(stopped.mean_logprob, -2.5);  // four tokens
  EXPECT_EQ(grown(bytes("xyz"), {"z"}, 3).ended, query::Ending::stop);
  const auto cut = grown(bytes("abcdef"), {"z"}, 4);
  EXPECT_EQ(cut.ended, query::Ending::length);
  EXPECT_EQ(cut.mean_logprob, -2.5);
  EXPECT_EQ(grown({1}, {}).mean_logprob, -1);
  const auto empty = grown(bytes("abc"), {}, 0);
  EXPECT_EQ(empty.ended, query::Ending::length);
  EXPECT_TRUE(std::isnan(empty.mean_logprob));
}

TEST_F(NewTextTest, AThoughtThatIsTooLongIsClosedAndItsAnswerHasItsOwnTokens) {
  const query::ThoughtLimit limit{10, 0, "<t>", "</t>", "\n</t>\n\n"};
  const auto closed = thought("<t>abcdefghijkl", limit, 4);
  EXPECT_EQ(closed.text, "<t>abcdefg\n</t>\n\nhijk");
  EXPECT_TRUE(closed.closed_thought);
  EXPECT_EQ(closed.mean_logprob, -1) << "what is given is not drawn";
  EXPECT_EQ(added, 14);
  const auto own = thought("\n<t>ab</t>cdefgh", limit, 4);
  EXPECT_EQ(own.text, "\n<t>ab</t>cdef");
  EXPECT_FALSE(own.closed_thought);
  EXPECT_EQ(thought("<ta>bcdefghijkl", limit, 12).text, "<ta>bcdefghi") << "no thought: all of it is answer";
  EXPECT_EQ(thought("<t>abcde</t>fghijkl", limit, 2).text, "<t>abcde</\n</t>\n\nt>") << "a mark that comes too late";
  const query::ThoughtLimit inside{3, 0, "", "</t>", "</t>"};
  EXPECT_EQ(thought("abcdef", inside, 2).text, "abc</t>de");
  EXPECT_EQ(thought("abcdef", inside, 0).text, "abc</t>");
}

TEST_F(NewTextTest, StopStringsEndAnAnswerAndNoThought) {
  const query::ThoughtLimit limit{20, 0, "<t>", "</t>", "\n</t>\n\n"};
  EXPECT_EQ(thought("<t>a\n\nb</t>\n\nc d\n\ne", limit, 20, {"\n\n"}).text, "<t>a\n\nb</t>\n\nc d");
  EXPECT_EQ(thought("<t>abcdefghijklmnopqrstuvwxyz", limit, 20, {"t"}).text, "<t>abcdefghijklmnopq\n</t>\n\nrs");
}

TEST(EndTokens, ComeFromTheGenerationConfigElseFromTheConfig) {
  const auto read = [](const char* generation, const char* config) {
    base::FileSet files("m");
    if (generation != nullptr) {
      files.add("generation_config.json", base::to_shared(generation));
    }
    if (config != nullptr) {
      files.add("config.json", base::to_shared(config));
    }
    return read_end_tokens(files);
  };
  EXPECT_THAT(read(R"({"eos_token_id": 7})", R"({"eos_token_id": 8})"), ElementsAre(7));
  EXPECT_THAT(read(R"({"eos_token_id": [7, 9]})", R"({"eos_token_id": 8})"), ElementsAre(7, 9));
  EXPECT_THAT(read(R"({})", R"({"eos_token_id": 8})"), ElementsAre(8));
  EXPECT_THAT(read(R"({"eos_token_id": null})", R"({"eos_token_id": [8]})"), ElementsAre(8));
  EXPECT_THAT(read(nullptr, R"({"eos_token_id": 8})"), ElementsAre(8));
  EXPECT_THAT(read(nullptr, R"({})"), IsEmpty());
  EXPECT_THAT(read(R"({"eos_token_id": []})", R"({"eos_token_id": 8})"), IsEmpty());
  EXPECT_THAT(read(nullptr, R"({"text_config": {"eos_token_id": [3, 4]}})"), ElementsAre(3, 4));
  EXPECT_THAT(read(nullptr, R"({"model_type": "llama"})"), ElementsAre(2));
  EXPECT_THAT(read(nullptr, R"({"model_type": "llama", "eos_token_id": null})"), IsEmpty());
  EXPECT_THAT(read(nullptr, R"({"model_type": "qwen2"})"), IsEmpty());
  EXPECT_THAT(read("{}", R"({"model_type": "llama"})"), IsEmpty());
  for (const char* wrong : {R"({"eos_token_id": "x"})", R"({"eos_token_id": -1})", R"({"eos_token_id": [1, 2.5]})",
                            R"({"eos_token_id": 99999999999})", R"({"eos_token_id": 18446744073709551615})", "{"}) {
    EXPECT_THROW(read(wrong, nullptr), base::InputError) << wrong;
  }
}

TEST_F(NewTextTest, NamesSettingsThatWouldChooseOtherTokens) {
  query::Generate sampled;
  sampled.temperature = 0.6;
  sampled.top_k = 20;
  sampled.top_p = 0.9;
  const query::Generate greedy;
  const auto named = [](const char* generation, const query::Generate& asked) {
    base::FileSet files("/model");
    files.add("generation_config.json", base::to_shared(generation));
    return keys_not_followed(base::find_json(files, generation_settings).root, asked);
  };
  EXPECT_THAT(keys_not_followed(base::Json::object(), sampled), IsEmpty());
  EXPECT_THAT(named(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20, "max_length": 20,
    "eos_token_id": [1, 2], "repetition_penalty": 1.0, "num_beams": 1, "bad_words_ids": null, "suppress_tokens": [],
    "stop_strings": "", "min_length": 0, "token_healing": false})",
                    sampled),
              IsEmpty());
  EXPECT_THAT(named(R"({"suppress_tokens": [3], "repetition_penalty": 1.3, "forced_bos_token_id": 0,
    "stop_strings": "x", "token_healing": true})",
                    greedy),
              ElementsAre("forced_bos_token_id", "stop_strings", "suppress_tokens", "token_healing",
                          "repetition_penalty 1.3 (here 1)"));
  const char* chat = R"({"do_sample": true, "temperature": 0.7, "top_p": 0.8, "top_k": 20})";
  EXPECT_THAT(named(chat, sampled), ElementsAre("temperature 0.7 (here 0.6)", "top_p 0.8 (here 0.9)"));
  EXPECT_THAT(named(chat, greedy), ElementsAre("do_sample true (here false)", "temperature 0.7 (here 0)",
                                               "top_p 0.8 (here 1)", "top_k 20 (here 0)"));
  const char* unused = R"({"temperature": 0.7, "top_p": 0.8})";  // transformers is greedy without do_sample, too
  EXPECT_THAT(named(unused, greedy), IsEmpty());
  EXPECT_THAT(named(unused, sampled), ElementsAre("temperature 0.7 (here 0.6)", "top_p 0.8 (here 0.9)"));
  EXPECT_THAT(named(R"({"do_sample": false, "top_p": null, "temperature": "x"})", sampled),
              ElementsAre("do_sample false (here true)"));
  sampled.repetition_penalty = 1.3;
  EXPECT_THAT(named(R"({"repetition_penalty": 1.3})", sampled), IsEmpty());
  EXPECT_THAT([&] { named("[]", sampled); }, ::testing::ThrowsMessage<base::InputError>(::testing::HasSubstr(
                                                 "/model/generation_config.json: no JSON object")));
}

}  // namespace
}  // namespace stereosweep::engine
