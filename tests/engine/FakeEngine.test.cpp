#include "engine/FakeEngine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

namespace stereosweep::engine {
namespace {

query::Query sample(const std::string& text, std::vector<query::TokenId> targets) {
  return query::Fill{text, {query::MaskSlot{7, {}}, query::MaskSlot{std::nullopt, std::move(targets)}}, true, true};
}

const query::SlotAnswer& second_slot(const query::Answer& answer) {
  return std::get<query::FillAnswer>(answer).slots.at(1);
}

TEST(FakeEngine, NumbersArePlausible) {
  FakeEngine engine(1000, 1);
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

TEST(FakeEngine, AnswersDependOnWhatTheyWouldInAModelAlone) {
  FakeEngine engine(1000, 1);
  FakeEngine other_seed(1000, 2);
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
  FakeEngine engine(10, 1);
  const std::vector<query::Query> queries = {sample("[MASK] [MASK]", {10}), sample("[MASK] [MASK]", {-1}),
                                             sample("[MASK] [MASK]", {9})};
  const auto answers = engine.answer(queries);
  EXPECT_THAT(std::get<query::QueryError>(answers[0]).message, ::testing::HasSubstr("id 10"));
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(answers[1]));
  EXPECT_TRUE(std::holds_alternative<query::FillAnswer>(answers[2]));
}

TEST(FakeEngine, AnswersOverAHundredThousandSlotsASecond) {
  FakeEngine engine(30000, 1);
  std::vector<query::Query> queries;
  for (int i = 0; i < 20000; ++i) {
    queries.push_back(sample("Most people know that group " + std::to_string(i) + " are [MASK] [MASK].", {5, 6, 7}));
  }
  const auto start = std::clock();
  EXPECT_EQ(engine.answer(queries).size(), queries.size());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.2);  // 40,000 slots
}

}  // namespace
}  // namespace stereosweep::engine
