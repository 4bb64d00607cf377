#include "model/kernels/Segments.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace stereosweep::model {
namespace {

TEST(DistinctTokens, EveryTokenFindsItsPairAndNoPairStandsTwice) {
  std::mt19937 random(3);
  std::vector<query::TokenId> ids(500);
  std::vector<std::int32_t> positions(500);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<query::TokenId>(random() % 40);
    positions[i] = static_cast<std::int32_t>(random() % 7);
  }
  const auto found = find_distinct(ids, positions);
  ASSERT_EQ(found.rows.size(), ids.size());
  ASSERT_EQ(found.ids.size(), found.positions.size());
  std::set<std::pair<query::TokenId, std::int32_t>> pairs;
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    EXPECT_TRUE(pairs.emplace(found.ids[i], found.positions[i]).second);
  }
  EXPECT_LT(pairs.size(), 281);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<std::size_t>(found.rows[i]);
    EXPECT_EQ(found.ids.at(row), ids[i]);
    EXPECT_EQ(found.positions.at(row), positions[i]);
  }
}

TEST(DistinctTokens, FirstComesFirst) {
  const auto found = find_distinct(std::vector<query::TokenId>{7, 5, 7, 5}, std::vector<std::int32_t>{0, 1, 1, 1});
  EXPECT_EQ(found.ids, (std::vector<query::TokenId>{7, 5, 7}));
  EXPECT_EQ(found.positions, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(found.rows, (std::vector<std::int32_t>{0, 1, 2, 1}));
  EXPECT_TRUE(find_distinct({}, {}).rows.empty());
  EXPECT_THROW(find_distinct(std::vector<query::TokenId>{1}, {}), std::logic_error);
}

}  // namespace
}  // namespace stereosweep::model
