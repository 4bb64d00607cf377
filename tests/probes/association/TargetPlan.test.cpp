// Which queries a list of words needs: shared prefixes once, only the subwords that a measure reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "probes/association/Association.hpp"

namespace stereosweep::probes::association {
namespace {

using ::testing::ElementsAre;

WordPieces word(std::vector<query::TokenId> ids, CellStatus status = CellStatus::ok) {
  return {std::move(ids), status};
}

const Measures everything = {Measure::ilps, Measure::ilps_star, Measure::set};
const Measures only_ilps = {Measure::ilps};

TEST(TargetPlan, FirstSubwordsOfEqualLengthShareOneQuery) {
  const auto plan = plan_targets({word({7}), word({8}), word({7}), word({9, 3})}, everything, 8);
  ASSERT_EQ(plan.asks.size(), 3u);
  EXPECT_EQ(plan.asks[0].num_masks, 1u);
  EXPECT_THAT(plan.asks[0].targets, ElementsAre(7, 8));
  EXPECT_EQ(plan.asks[1].num_masks, 2u);
  EXPECT_THAT(plan.asks[1].targets, ElementsAre(9));
  EXPECT_THAT(plan.asks[2].prefix, ElementsAre(9));
  EXPECT_THAT(plan.asks[2].targets, ElementsAre(3));
  EXPECT_EQ(plan.words[2].places[0].ask, 0u);
  EXPECT_EQ(plan.words[2].places[0].target, 0u) << "the same word in two poles is asked once";
}

TEST(TargetPlan, SharedPrefixesAreAskedOnce) {
  const auto plan = plan_targets({word({5, 6, 1}), word({5, 6, 2}), word({5, 7, 2})}, everything, 8);
  ASSERT_EQ(plan.asks.size(), 4u);
  EXPECT_THAT(plan.asks[0].targets, ElementsAre(5));
  EXPECT_THAT(plan.asks[1].targets, ElementsAre(6, 7));
  EXPECT_THAT(plan.asks[2].prefix, ElementsAre(5, 6));
  EXPECT_THAT(plan.asks[2].targets, ElementsAre(1, 2));
  EXPECT_THAT(plan.asks[3].prefix, ElementsAre(5, 7));
}

TEST(TargetPlan, IlpsAloneReadsFirstAndLastSubword) {
  const auto plan = plan_targets({word({5, 6, 7, 8})}, only_ilps, 8);
  ASSERT_EQ(plan.asks.size(), 2u);
  EXPECT_TRUE(plan.asks[0].prefix.empty());
  EXPECT_THAT(plan.asks[1].prefix, ElementsAre(5, 6, 7));
  EXPECT_EQ(plan.words[0].places[1].ask, Place::nowhere);
  EXPECT_EQ(plan.words[0].places[2].ask, Place::nowhere);
}

TEST(TargetPlan, WordsThatCannotBeScoredAskNothing) {
  const auto plan = plan_targets({word({1, 2}, CellStatus::unknown_token), word({}, CellStatus::no_tokens),
                                  word({1}, CellStatus::joins), word({1, 2, 3})},
                                 everything, 2);
  EXPECT_TRUE(plan.asks.empty());
  EXPECT_EQ(plan.words[0].status, CellStatus::unknown_token);
  EXPECT_EQ(plan.words[1].status, CellStatus::no_tokens);
  EXPECT_EQ(plan.words[2].status, CellStatus::joins);
  EXPECT_EQ(plan.words[3].status, CellStatus::too_many_subwords);
  EXPECT_EQ(plan.words[3].num_subwords, 3);
}

TEST(TargetPlan, EveryStatusHasAName) {
  EXPECT_EQ(cell_status_names.size(), static_cast<std::size_t>(CellStatus::engine_error) + 1);
  EXPECT_EQ(cell_status_names[static_cast<std::size_t>(CellStatus::too_long)], "too_long");
}

TEST(TargetPlan, RandomWordsReachExactlyTheirOwnTargets) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<WordPieces> words(1 + random() % 40);
    for (auto& entry : words) {
      for (std::size_t length = 1 + random() % 5; length > 0; --length) {
        entry.ids.push_back(static_cast<query::TokenId>(random() % 4));
      }
    }
    const auto plan = plan_targets(words, everything, 8);
    std::set<std::pair<std::uint32_t, std::uint32_t>> used;
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t k = 0; k < words[i].ids.size(); ++k) {
        const Place place = plan.words[i].places[k];
        const Ask& ask = plan.asks.at(place.ask);
        EXPECT_EQ(ask.num_masks, words[i].ids.size());
        EXPECT_EQ(ask.prefix, std::vector(words[i].ids.begin(), words[i].ids.begin() + static_cast<long>(k)));
        EXPECT_EQ(ask.targets.at(place.target), words[i].ids[k]);
        used.emplace(place.ask, place.target);
      }
    }
    std::size_t asked = 0;
    std::set<std::pair<std::uint32_t, std::vector<query::TokenId>>> distinct;
    for (const auto& ask : plan.asks) {
      asked += ask.targets.size();
      distinct.emplace(ask.num_masks, ask.prefix);
    }
    EXPECT_EQ(used.size(), asked) << "nothing is asked for nobody";
    EXPECT_EQ(distinct.size(), plan.asks.size()) << "nothing is asked twice";
    EXPECT_EQ(plan.digest, plan_targets(words, everything, 8).digest);
    words[0].ids[0] += 10;
    EXPECT_NE(plan.digest, plan_targets(words, everything, 8).digest);
  }
}

}  // namespace
}  // namespace stereosweep::probes::association
