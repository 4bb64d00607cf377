// The reader of logits, by operators, where the rows lie apart: what lies between them is NaN.
#include "engine/readout/Readout.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "engine/RowsApart.hpp"
#include "model/CausalReference.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

// Below zero, so that zeros would stand out, too.
at::Tensor drawn_logits() { return model::testing::random_numbers({5, 301}, 2, -30).to(at::kFloat); }

TEST(Readout, SlotsOfRowsThatLieApart) {
  stereosweep::testing::draw_from(1);
  const auto logits = drawn_logits();
  const auto width = logits.size(1);
  const auto input = model::testing::random_numbers({logits.size(0), 12}, 1).to(at::kFloat);
  const auto bias = model::testing::random_numbers({width}, 0.5).to(at::kFloat);
  std::vector<tokenizer::TokenClass> classes(static_cast<std::size_t>(width), tokenizer::TokenClass::initial);
  std::fill(classes.begin() + 100, classes.end(), tokenizer::TokenClass::continuation);
  const LogitsReader reader({classes, static_cast<std::size_t>(width)}, model::Kernels::operators, bias);
  // The last column and one whose distance needs the whole row, too.
  const std::vector<query::TokenId> targets{0, 7, static_cast<query::TokenId>(width) - 1};
  std::vector<AskedRow> asked;
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    asked.push_back({row, targets, true, true});
  }
  const auto expected = reader.read(logits, input, asked)();
  for (const float between : {0.0F, std::numeric_limits<float>::quiet_NaN()}) {
    const auto found = reader.read(testing::set_apart(logits, between), input, asked)();
    ASSERT_EQ(found.size(), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_TRUE(found[i] && expected[i]);
      EXPECT_NEAR(found[i]->log_mass_initial, expected[i]->log_mass_initial, 1e-5);
      EXPECT_NEAR(found[i]->log_mass_continuation, expected[i]->log_mass_continuation, 1e-5);
      for (std::size_t target = 0; target < 3; ++target) {
        EXPECT_NEAR(found[i]->logprob[target], expected[i]->logprob[target], 1e-5);
        EXPECT_EQ(found[i]->set[target].distance_bias, expected[i]->set[target].distance_bias);
        EXPECT_EQ(found[i]->set[target].distance_plain, expected[i]->set[target].distance_plain);
      }
    }
  }
}

TEST(Readout, LogProbabilitiesOfRowsThatLieApart) {
  stereosweep::testing::draw_from(2);
  const auto logits = drawn_logits();
  const LogitsReader reader({{}, static_cast<std::size_t>(logits.size(1))}, model::Kernels::operators);
  std::vector<query::TokenId> tokens(static_cast<std::size_t>(logits.size(0)));
  std::vector<AskedRow> asked;
  for (auto& token : tokens) {
    const auto number = std::ssize(asked);
    token = static_cast<query::TokenId>(number * 75);
    asked.push_back({logits.size(0) - 1 - number, {&token, 1}});
  }
  const auto expected = reader.read(logits, {}, asked)();
  for (const float between : {0.0F, std::numeric_limits<float>::quiet_NaN()}) {
    const auto found = reader.read(testing::set_apart(logits, between), {}, asked)();
    ASSERT_EQ(found.size(), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_TRUE(found[i] && expected[i]);
      EXPECT_NEAR(found[i]->logprob.front(), expected[i]->logprob.front(), 1e-5);
    }
  }
}

}  // namespace
}  // namespace stereosweep::engine
