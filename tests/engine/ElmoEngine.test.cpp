#include "engine/elmo/ElmoEngine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace stereosweep::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ElmoPlanTest : public ::testing::Test {
 protected:
  ElmoPlanTest() : tokenizer_(tokenizer::Tokenizer::from_files(elmo_directory())) {}

  static base::FileSet elmo_directory() {
    base::FileSet files("dir");
    files.add("options.json", base::to_shared("{}"));
    return files;
  }

  ElmoPlan plan(const std::vector<query::Query>& queries) const { return plan_elmo(queries, tokenizer_, 2); }

  tokenizer::Tokenizer tokenizer_;
};

query::Embed embed(std::string text, std::size_t begin, std::size_t end, int layer = -1,
                   query::Pool pool = query::Pool::mean) {
  query::Embed asked;
  asked.text = std::move(text);
  asked.span = {begin, end};
  asked.layer = layer;
  asked.pool = pool;
  return asked;
}

std::string error_of(const query::Answer& answer) {
  const auto* error = std::get_if<query::QueryError>(&answer);
  return error == nullptr ? "no error" : error->message;
}

TEST_F(ElmoPlanTest, EqualSentencesRunOnceLongestFirst) {
  const std::vector<query::Query> queries = {embed("b c", 0, 1), embed("a", 0, 1, 0), embed("b  c", 3, 4, 1),
                                             embed("x y z", 0, 5, 2, query::Pool::last)};
  const auto made = plan(queries);
  ASSERT_EQ(made.sentences.size(), 3U);
  EXPECT_THAT(made.sentences[0].words, ElementsAre("x", "y", "z"));
  EXPECT_THAT(made.sentences[0].uses, ElementsAre(WordUse{2, 3, 2}));
  EXPECT_THAT(made.sentences[1].words, ElementsAre("b", "c"));  // white space is no part of a sentence
  EXPECT_THAT(made.sentences[1].uses, ElementsAre(WordUse{0, 0, 2}, WordUse{1, 2, 1}));
  EXPECT_THAT(made.sentences[2].words, ElementsAre("a"));
}

TEST_F(ElmoPlanTest, SentencesDoNotFollowTheOrderOfQueries) {
  const std::vector<query::Query> queries = {embed("b c", 0, 1), embed("a d", 0, 1), embed("a b c", 0, 1),
                                             embed("b c", 0, 1)};
  const auto first = plan(queries);
  const std::vector<query::Query> reversed(queries.rbegin(), queries.rend());
  const auto second = plan(reversed);
  ASSERT_EQ(first.sentences.size(), second.sentences.size());
  for (std::size_t i = 0; i < first.sentences.size(); ++i) {
    EXPECT_EQ(first.sentences[i].words, second.sentences[i].words);
  }
}

TEST_F(ElmoPlanTest, StaticVectorsNeedNoSentence) {
  auto asked = embed("a nurse said so", 2, 12);
  asked.source = query::VectorSource::input_embedding;
  auto sum = asked;
  sum.source = query::VectorSource::sum_of_states;
  const std::vector<query::Query> queries = {asked, sum};
  const auto made = plan(queries);
  ASSERT_EQ(made.sentences.size(), 2U);
  EXPECT_THAT(made.sentences[0].uses,
              ElementsAre(WordUse{1, 1, WordUse::sum_of_states}, WordUse{2, 1, WordUse::sum_of_states}));
  EXPECT_THAT(made.sentences[1].words, ElementsAre("nurse", "said"));
  EXPECT_THAT(made.sentences[1].uses,
              ElementsAre(WordUse{0, 0, WordUse::own_vector}, WordUse{1, 0, WordUse::own_vector}));
}

TEST_F(ElmoPlanTest, FaultsAreAnswersOfTheirQuery) {
  std::string too_long;
  for (std::int64_t i = 0; i <= max_sentence_words; ++i) {
    too_long += "a ";
  }
  const std::vector<query::Query> queries = {query::Fill{},       embed("a b", 0, 1, 3), embed("a b", 0, 1, -4),
                                             embed("a  b", 1, 3), embed(too_long, 0, 1), embed("\xff", 0, 1),
                                             embed("a", 0, 1, -3)};
  const auto made = plan(queries);
  EXPECT_THAT(error_of(made.answers[0]), HasSubstr("'embed' alone"));
  EXPECT_THAT(error_of(made.answers[1]), HasSubstr("layer 3 does not exist"));
  EXPECT_THAT(error_of(made.answers[2]), HasSubstr("layer -4 does not exist"));
  EXPECT_THAT(error_of(made.answers[3]), HasSubstr("no word overlaps the span"));
  EXPECT_THAT(error_of(made.answers[4]), HasSubstr("too long"));
  EXPECT_EQ(std::get<query::QueryError>(made.answers[4]).fault, query::QueryFault::too_long);
  EXPECT_THAT(error_of(made.answers[5]), HasSubstr("UTF-8"));
  ASSERT_EQ(made.sentences.size(), 1U);
  EXPECT_THAT(made.sentences[0].uses, ElementsAre(WordUse{0, 6, 0}));
}

TEST_F(ElmoPlanTest, BatchesCountWordsAndMarks) {
  const std::vector<query::Query> queries = {embed("a b c", 0, 1), embed("a b", 0, 1), embed("a", 0, 1)};
  const auto made = plan(queries);
  const std::span<const Sentence> all = made.sentences;
  EXPECT_EQ(count_batch(all, 1), 1U);  // a long sentence is a batch of its own
  EXPECT_EQ(count_batch(all, 8), 1U);
  EXPECT_EQ(count_batch(all, 9), 2U);
  EXPECT_EQ(count_batch(all, 100), 3U);
}

}  // namespace
}  // namespace stereosweep::engine
