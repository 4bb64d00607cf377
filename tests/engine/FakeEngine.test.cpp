#include "engine/FakeEngine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <set>

#include "engine/CausalTokenizer.hpp"
#include "engine/QueryInput.hpp"

namespace stereosweep::engine {
namespace {

// A WordPiece vocabulary of so many made-up words.
tokenizer::Tokenizer tokenizer_of(int size) {
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 5; i < size; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  base::FileSet files("tiny");
  files.add("vocab.txt", base::to_shared(vocabulary));
  return tokenizer::Tokenizer::from_files(files);
}

query::Query sample(const std::string& text, std::vector<query::TokenId> targets) {
  return query::Fill{text, {query::MaskSlot{7, {}}, query::MaskSlot{std::nullopt, std::move(targets)}}, true, true};
}

const query::SlotAnswer& second_slot(const query::Answer& answer) {
  return std::get<query::FillAnswer>(answer).slots.at(1);
}

TEST(FakeEngine, NumbersArePlausible) {
  const auto tokenizer = tokenizer_of(1000);
  FakeEngine engine(tokenizer, 1);
  const std::vector<query::Query> queries = {sample("a [MASK] [MASK]", {1, 2, 999})};
  const auto answers = engine.answer(queries);
  const auto& slot = second_slot(answers[0]);
  ASSERT_EQ(slot.logprob.size(), 3U);
  EXPECT_THAT(slot.logprob, ::testing::Each(::testing::Lt(0.0)));
  EXPECT_NEAR(std::exp(slot.log_mass_initial) + std::exp(slot.log_mass_continuation), 1, 1e-12);
  for (const auto& set : slot.set) {
    EXPECT_GT(set.distance_bias, 0);
    EXPECT_LT(set.distance_bias, 1);
    EXPECT_GE(set.active_plain, 1);
  }
}

TEST(FakeEngine, InputVectorsDependOnTheSpanAlone) {
  const auto tokenizer = tokenizer_of(100);
  FakeEngine engine(tokenizer, 1);
  const auto ask = [](const std::string& text, base::Span span, query::VectorSource source) {
    return query::Embed{text, span, -1, query::Pool::mean, source};
  };
  const auto input = query::VectorSource::input_embedding;
  const auto hidden = query::VectorSource::hidden_state;
  const std::vector<query::Query> queries = {ask("ab cd", {3, 5}, input), ask("cd", {0, 2}, input),
                                             ask("ab cd", {0, 2}, input), ask("ab cd", {3, 5}, hidden),
                                             ask("x cd", {2, 4}, hidden)};
  const auto answers = engine.answer(queries);
  const auto vector = [&](std::size_t i) { return std::get<query::EmbedAnswer>(answers[i]).vector; };
  EXPECT_EQ(vector(0), vector(1));
  EXPECT_NE(vector(0), vector(2));
  EXPECT_NE(vector(0), vector(3));
  EXPECT_NE(vector(3), vector(4));
  EXPECT_EQ(engine.counts().distinct_sequences, 2U);
}

TEST(FakeEngine, AnswersDependOnWhatTheyWouldInAModelAlone) {
  const auto tokenizer = tokenizer_of(1000);
  FakeEngine engine(tokenizer, 1);
  FakeEngine other_seed(tokenizer, 2);
  const std::vector<query::Query> queries = {sample("a [MASK] [MASK]", {1, 2}), sample("b [MASK] [MASK]", {1, 2}),
                                             sample("a [MASK] [MASK]", {2})};
  const auto answers = engine.answer(queries);
  EXPECT_EQ(second_slot(answers[0]).logprob[1], second_slot(answers[2]).logprob[0]);
  EXPECT_NE(second_slot(answers[0]).logprob, second_slot(answers[1]).logprob);
  EXPECT_NE(second_slot(answers[0]).logprob, second_slot(other_seed.answer(queries)[0]).logprob);
  EXPECT_EQ(second_slot(engine.answer(queries)[1]).logprob, second_slot(answers[1]).logprob);
  EXPECT_EQ(engine.counts().queries, 6U);
  EXPECT_EQ(engine.counts().distinct_sequences, 4U);
}

TEST(FakeEngine, WrongIdSpoilsItsQueryOnly) {
  const auto tokenizer = tokenizer_of(10);
  FakeEngine engine(tokenizer, 1);
  const std::vector<query::Query> queries = {sample("[MASK] [MASK]", {10}), sample("[MASK] [MASK]", {-1}),
                                             sample("[MASK] [MASK]", {9})};
  const auto answers = engine.answer(queries);
  EXPECT_THAT(std::get<query::QueryError>(answers[0]).message, ::testing::HasSubstr("id 10"));
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(answers[1]));
  EXPECT_TRUE(std::holds_alternative<query::FillAnswer>(answers[2]));
}

TEST(FakeEngine, AnswersOverAHundredThousandSlotsASecond) {
  const auto tokenizer = tokenizer_of(30000);
  FakeEngine engine(tokenizer, 1);
  std::vector<query::Query> queries;
  for (int i = 0; i < 20000; ++i) {
    queries.push_back(sample("Most people know that group " + std::to_string(i) + " are [MASK] [MASK].", {5, 6, 7}));
  }
  const auto start = std::clock();
  EXPECT_EQ(engine.answer(queries).size(), queries.size());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.2);  // 40,000 slots
}

TEST(FakeEngine, ContinuationsHaveTheTokensOfTheBorderRule) {
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::none);
  FakeEngine engine(tokenizer, 1);
  const std::vector<query::Query> queries = {query::Continue{"x the ", {"ab", "cd ab", "z"}},
                                             query::Continue{"x the", {" ab"}}, query::Continue{"", {"z"}}};
  const auto answers = engine.answer(queries);
  const auto& logprob = std::get<query::ContinueAnswer>(answers[0]).logprob;
  const ContinuationBorder border("x the ", tokenizer, query::Framing::tokenizer);
  ASSERT_EQ(logprob.size(), 3U);
  for (std::size_t i = 0; i < logprob.size(); ++i) {
    const auto joint = border.join(std::get<query::Continue>(queries[0]).continuations[i]);
    EXPECT_EQ(logprob[i].size(), joint.ids.size() - joint.begin);
    EXPECT_THAT(logprob[i], ::testing::Each(::testing::Lt(0.0)));
  }
  EXPECT_EQ(std::get<query::ContinueAnswer>(answers[1]).logprob[0], logprob[0]);  // the same text, cut elsewhere
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(answers[2]));
  EXPECT_EQ(engine.counts().distinct_sequences, 3U);  // "x the", "x the " before z, "x the cd"
}

TEST(FakeEngine, TextsAreWords) {
  const auto tokenizer = tokenizer_of(1000);
  FakeEngine engine(tokenizer, 1);
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<query::Query> one = {query::Generate{"x", 1, 1, 0, 1, seed, {}, query::Framing::tokenizer}};
    const auto answer = std::get<query::GenerateAnswer>(engine.answer(one)[0]);
    ASSERT_EQ(answer.ids.size(), 1U);
    EXPECT_LT(answer.ids[0], 1000);
    EXPECT_LT(answer.mean_logprob, 0);
    EXPECT_EQ(answer.ended, query::Ending::length);
    texts.insert(answer.text);
  }
  EXPECT_EQ(texts.size(), 8U);
  EXPECT_TRUE(texts.contains("never"));
  query::Generate wrong{"x", 1, 1, 0, 1, 0, {}, query::Framing::tokenizer, 1000};
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(engine.answer(std::vector<query::Query>{wrong})[0]));
}

}  // namespace
}  // namespace stereosweep::engine
