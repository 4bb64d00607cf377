#include "engine/readout/SoftmaxRow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <random>

#include "engine/readout/SetDistance.hpp"
#include "support/ProcessorTime.hpp"

namespace stereosweep::engine {
namespace {

using tokenizer::TokenClass;

struct Row {
  std::vector<float> logits;
  std::vector<TokenClass> classes;
};

Row random_row(std::mt19937_64& rng, std::size_t size, double spread) {
  std::normal_distribution<double> normal(3, spread);
  Row row;
  for (std::size_t i = 0; i < size; ++i) {
    row.logits.push_back(static_cast<float>(normal(rng)));
    row.classes.push_back(rng() % 3 == 0 ? TokenClass::continuation : TokenClass::initial);
  }
  return row;
}

// long double, one term after the other
double exact(const Row& row, std::optional<TokenClass> wanted) {
  long double sum = 0;
  for (std::size_t i = 0; i < row.logits.size(); ++i) {
    if (!wanted || *wanted == row.classes[i]) {
      sum += std::exp(static_cast<long double>(row.logits[i]));
    }
  }
  return static_cast<double>(std::log(sum));
}

TEST(SoftmaxRow, EqualsLongDoubleSums) {
  std::mt19937_64 rng(3);
  for (int i = 0; i < 600; ++i) {
    const auto row = random_row(rng, 1 + rng() % 300, std::array{0.1, 3.0, 30.0}[rng() % 3]);
    const auto sums = log_sums(row.logits, ClassMask(row.classes, row.logits.size()));
    ASSERT_TRUE(sums.has_value());
    for (const auto& [value, wanted] : {std::pair{sums->total, std::optional<TokenClass>()},
                                        std::pair{sums->initial, std::optional(TokenClass::initial)},
                                        std::pair{sums->continuation, std::optional(TokenClass::continuation)}}) {
      const double truth = exact(row, wanted);
      ASSERT_TRUE(value == truth || std::abs(value - truth) < 2e-7) << value << " " << truth;
    }
  }
}

TEST(SoftmaxRow, ASmallClassKeepsItsDigits) {
  const std::vector<float> logits = {0, 0, -200, -200};
  const std::vector<TokenClass> classes = {TokenClass::initial, TokenClass::initial, TokenClass::continuation,
                                           TokenClass::continuation};
  const auto sums = log_sums(logits, ClassMask(classes, 4));
  EXPECT_NEAR(sums->continuation, -200 + std::log(2), 1e-9);
  EXPECT_NEAR(sums->total, std::log(2), 1e-9);
}

TEST(SoftmaxRow, ColumnsWithoutTokenAreContinuations) {
  const std::vector<float> logits = {0, 0, 0};
  const std::vector<TokenClass> classes = {TokenClass::initial};
  const auto sums = log_sums(logits, ClassMask(classes, 3));
  EXPECT_NEAR(sums->initial, 0, 1e-9);
  EXPECT_NEAR(sums->continuation, std::log(2), 1e-9);
  const std::vector<TokenClass> all_initial(3, TokenClass::initial);
  EXPECT_EQ(log_sums(logits, ClassMask(all_initial, 3))->continuation, -std::numeric_limits<double>::infinity());
}

TEST(SoftmaxRow, NotFiniteLogitsHaveNoSum) {
  std::vector<float> logits(40, 1.0F);
  const std::vector<TokenClass> classes(40, TokenClass::initial);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t place : {0U, 17U, 39U}) {
      auto spoiled = logits;
      spoiled[place] = bad;
      EXPECT_FALSE(log_sums(spoiled, ClassMask(classes, 40)).has_value());
    }
  }
}

TEST(LargestLogits, HoldsTheLargestWithoutGap) {
  std::mt19937_64 rng(9);
  for (int i = 0; i < 500; ++i) {
    auto row = random_row(rng, 1 + rng() % 3000, 2).logits;
    if (i % 3 == 0) {
      for (auto& value : row) {
        value = std::round(value);
      }
    }
    const std::size_t wanted = 1 + rng() % 150;
    const auto found = find_largest(row, wanted);
    ASSERT_GE(found.size(), std::min(wanted, row.size()));
    float smallest = std::numeric_limits<float>::infinity();
    std::vector<bool> listed(row.size(), false);
    for (const auto& [id, value] : found) {
      ASSERT_EQ(value, row[static_cast<std::size_t>(id)]);
      smallest = std::min(smallest, value);
      listed[static_cast<std::size_t>(id)] = true;
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      ASSERT_TRUE(listed[j] || row[j] <= smallest);
    }
  }
}

TEST(SoftmaxRow, IsQuickOnARealVocabulary) {
  std::mt19937_64 rng(1);
  const auto row = random_row(rng, 30522, 3);
  const ClassMask classes(row.classes, row.logits.size());
  double sink = 0;
  const ProcessorTime time;
  for (int i = 0; i < 200; ++i) {
    sink += log_sums(row.logits, classes)->total;
  }
  const double middle = time.seconds();
  for (int i = 0; i < 200; ++i) {
    sink += static_cast<double>(find_largest(row.logits, 128).size());
  }
  const double end = time.seconds();
  const double sums = middle * 1e6 / 200;
  const double top = (end - middle) * 1e6 / 200;
  std::cout << "30,522 logits: sums " << sums << " us, top " << top << " us (" << sink << ")\n";
  EXPECT_LT(sums, 1000);
}

}  // namespace
}  // namespace stereosweep::engine
