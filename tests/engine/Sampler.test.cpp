#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "engine/causal/Generation.hpp"

namespace stereosweep::engine {
namespace {

using ::testing::ElementsAre;

query::Generate asked(double temperature, std::int32_t top_k = 0, double top_p = 1, std::uint64_t seed = 0) {
  return {"", 1, temperature, top_k, top_p, seed, {}, query::Framing::tokenizer};
}

std::vector<query::TokenId> ids_of(const std::vector<Candidate>& all) {
  std::vector<query::TokenId> ids;
  for (const auto& candidate : all) {
    ids.push_back(candidate.id);
  }
  return ids;
}

TEST(Sampler, GreedyTakesTheLowestOfEqualIds) {
  EXPECT_EQ(next_token(std::vector<float>{1, 3, 2, 3}, asked(0), 0), 1);
  EXPECT_EQ(next_token(std::vector<float>{-5, -5}, asked(0, 1, 0.1, 9), 7), 0);
}

TEST(Sampler, TopKKeepsAllOfSeveralEquals) {
  const std::vector<float> logits = {1, 4, 2, 2, 0, 3};
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 1))), ElementsAre(1));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 3))), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 5))), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_EQ(candidates(logits, asked(1, 6)).size(), 6U);
  EXPECT_EQ(candidates(logits, asked(1, 1000)).size(), 6U);
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  std::vector<float> logits;
  for (const double p : {0.1, 0.4, 0.2, 0.3}) {
    logits.push_back(static_cast<float>(std::log(p)));
  }
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 0, 0.01))), ElementsAre(1));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 0, 0.39))), ElementsAre(1));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 0, 0.41))), ElementsAre(1, 3));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 0, 0.71))), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 0, 0.91))), ElementsAre(0, 1, 2, 3));
  // The mass is counted after temperature and top_k: of 0.4 and 0.3 the first alone has 4/7.
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 2, 0.55))), ElementsAre(1));
  EXPECT_THAT(ids_of(candidates(logits, asked(1, 2, 0.6))), ElementsAre(1, 3));
  EXPECT_THAT(ids_of(candidates(logits, asked(0.1, 0, 0.9))), ElementsAre(1));
  EXPECT_THAT(ids_of(candidates(std::vector<float>{0, 0, 0, 0}, asked(1, 0, 0.5))), ElementsAre(0, 1));
}

TEST(Sampler, TopPOfManyEqualsTheWholeSort) {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> logits(5000);
  std::generate(logits.begin(), logits.end(), [&] { return normal(rng); });
  std::vector<query::TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](query::TokenId id) {
    return std::exp(static_cast<double>(logits[static_cast<std::size_t>(id)]));
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return weight(a) > weight(b); });
  const double total =
      std::accumulate(order.begin(), order.end(), 0.0, [&](double sum, auto id) { return sum + weight(id); });
  for (const double top_p : {0.05, 0.5, 0.9, 0.999}) {
    double mass = 0;
    std::size_t count = 0;
    for (; mass < top_p * total; ++count) {
      mass += weight(order[count]);
    }
    std::vector<query::TokenId> kept(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(kept.begin(), kept.end());
    EXPECT_EQ(ids_of(candidates(logits, asked(1, 0, top_p))), kept);
  }
}

// 20,000 draws against the exact distribution; the statistic stays below the quantile of 1 - 1e-4.
void expect_distribution(const std::vector<float>& logits, const query::Generate& fields,
                         const std::map<query::TokenId, double>& expected, double limit, bool over_seeds) {
  constexpr int draws = 20000;
  std::map<query::TokenId, int> seen;
  for (std::uint64_t i = 0; i < draws; ++i) {
    auto one = fields;
    one.seed = over_seeds ? i : 20220710;
    ++seen[next_token(logits, one, over_seeds ? 3 : i)];
  }
  double statistic = 0;
  double total = 0;
  for (const auto& [id, probability] : expected) {
    const double wanted = draws * probability;
    statistic += (seen[id] - wanted) * (seen[id] - wanted) / wanted;
    total += probability;
  }
  EXPECT_NEAR(total, 1, 1e-6);
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_LT(statistic, limit);
  EXPECT_GT(statistic, 0);
}

std::map<query::TokenId, double> normalized(std::map<query::TokenId, double> weights) {
  double total = 0;
  for (const auto& [id, weight] : weights) {
    total += weight;
  }
  for (auto& [id, weight] : weights) {
    weight /= total;
  }
  return weights;
}

TEST(Sampler, DrawsFollowTheDistribution) {
  std::vector<float> logits;
  std::map<query::TokenId, double> all;
  for (int i = 0; i < 10; ++i) {
    logits.push_back(static_cast<float>(std::sin(3.0 * i)));
    all[i] = std::exp(static_cast<double>(logits.back()) / 0.7);
  }
  for (const bool over_seeds : {true, false}) {
    expect_distribution(logits, asked(0.7), normalized(all), 33.72, over_seeds);  // chi-square, 9 degrees
    // sin(3i) is largest at i = 7, 9, 5, 3 (0.837, 0.956, 0.650, 0.412)
    std::map<query::TokenId, double> four = {{7, all[7]}, {9, all[9]}, {5, all[5]}, {3, all[3]}};
    expect_distribution(logits, asked(0.7, 4), normalized(four), 21.11, over_seeds);  // 3 degrees
    expect_distribution(logits, asked(0.7, 4, 0.5), normalized({{7, all[7]}, {9, all[9]}}), 15.14, over_seeds);  // 1
  }
}

TEST(Sampler, ExtremeFieldsAreHarmless) {
  const std::vector<float> logits = {-3e38F, 3e38F, 3e38F, 0};
  for (std::uint64_t step = 0; step < 100; ++step) {
    const auto id = next_token(logits, asked(1e-300, 0, 1, 1), step);
    EXPECT_TRUE(id == 1 || id == 2);
    EXPECT_EQ(next_token(logits, asked(1e-300, 0, 1e-300, 1), step), 1);
  }
  EXPECT_GE(next_token(logits, asked(1e300, 2, 0.999, 1), 1), 1);
}

}  // namespace
}  // namespace stereosweep::engine
