#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "engine/readout/RowSampling.hpp"

namespace stereosweep::engine {
namespace {

using ::testing::ElementsAre;

query::Generate asked(double temperature, std::int32_t top_k = 0, double top_p = 1, std::uint64_t seed = 0) {
  return {"", 1, temperature, top_k, top_p, seed, {}, query::Framing::tokenizer};
}

query::TokenId next(const std::vector<float>& logits, const query::Generate& fields, std::uint64_t step) {
  return next_token(logits, sampling_of(fields, step, logits.size()));
}

std::vector<Candidate> left_of(const std::vector<float>& logits, const query::Generate& fields) {
  return candidates(logits, sampling_of(fields, 0, logits.size()));
}

std::vector<query::TokenId> ids_of(const std::vector<Candidate>& all) {
  std::vector<query::TokenId> ids;
  for (const auto& candidate : all) {
    ids.push_back(candidate.id);
  }
  return ids;
}

TEST(Sampler, GreedyTakesTheLowestOfEqualIds) {
  EXPECT_EQ(next(std::vector<float>{1, 3, 2, 3}, asked(0), 0), 1);
  EXPECT_EQ(next(std::vector<float>{-5, -5}, asked(0, 1, 0.1, 9), 7), 0);
}

TEST(Sampler, TopKKeepsAllOfSeveralEquals) {
  const std::vector<float> logits = {1, 4, 2, 2, 0, 3};
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 1))), ElementsAre(1));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 3))), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 5))), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_EQ(left_of(logits, asked(1, 6)).size(), 6U);
  EXPECT_EQ(left_of(logits, asked(1, 1000)).size(), 6U);
}

TEST(Sampler, TopPKeepsTheTokenThatCrosses) {
  std::vector<float> logits;
  for (const double p : {0.1, 0.4, 0.2, 0.3}) {
    logits.push_back(static_cast<float>(std::log(p)));
  }
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 0, 0.01))), ElementsAre(1));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 0, 0.39))), ElementsAre(1));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 0, 0.41))), ElementsAre(1, 3));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 0, 0.71))), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 0, 0.91))), ElementsAre(0, 1, 2, 3));
  // The mass is counted after temperature and top_k: of 0.4 and 0.3 the first alone has 4/7.
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 2, 0.55))), ElementsAre(1));
  EXPECT_THAT(ids_of(left_of(logits, asked(1, 2, 0.6))), ElementsAre(1, 3));
  EXPECT_THAT(ids_of(left_of(logits, asked(0.1, 0, 0.9))), ElementsAre(1));
  EXPECT_THAT(ids_of(left_of(std::vector<float>{0, 0, 0, 0}, asked(1, 0, 0.5))), ElementsAre(0, 1));
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
    EXPECT_EQ(ids_of(left_of(logits, asked(1, 0, top_p))), kept);
  }
}

TEST(Sampler, BlocksDrawWhatTheWholeLineOfWeightsDraws) {
  std::mt19937 rng(2);
  std::normal_distribution<float> normal(0, 3);
  for (const std::size_t size : {1, 255, 256, 257, 5000}) {
    std::vector<float> logits(size);
    std::generate(logits.begin(), logits.end(), [&] { return normal(rng); });
    const float largest = *std::max_element(logits.begin(), logits.end());
    for (const double temperature : {0.05, 0.7, 1.0, 4.0}) {
      const auto masses = masses_at(logits, temperature).masses;
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        sum += std::exp((static_cast<double>(logits[i]) - static_cast<double>(largest)) / temperature);
        if ((i + 1) % block_width == 0 || i + 1 == size) {
          EXPECT_NEAR(masses.at(i / block_width) / sum, 1, 1e-14);
          sum = 0;
        }
      }
      const auto fields = asked(temperature, 0, 1, 5);
      const auto line = left_of(logits, fields);
      ASSERT_EQ(line.size(), size);
      for (std::uint64_t step = 0; step < 200; ++step) {
        ASSERT_EQ(next(logits, fields, step), pick(line, sampling_of(fields, step, size).unit));
      }
    }
  }
}

TEST(Sampler, TheLargestLogitsDecideOnlyWhatTheyCan) {
  const std::vector<Logit> three = {{4, 2}, {1, 3}, {7, 2}};
  const auto ids = [&](std::int32_t top_k, double top_p, double total, std::size_t size) {
    const auto found = candidates_among(three, {size, total}, sampling_of(asked(1, top_k, top_p), 0, size));
    return found ? std::optional(ids_of(*found)) : std::nullopt;
  };
  EXPECT_THAT(*ids(1, 1, 0, 9), ElementsAre(1));
  EXPECT_FALSE(ids(2, 1, 0, 9));  // another 2 may not be listed
  EXPECT_FALSE(ids(3, 1, 0, 9));
  EXPECT_FALSE(ids(4, 1, 0, 9));
  EXPECT_THAT(*ids(2, 1, 0, 3), ElementsAre(1, 4, 7));
  EXPECT_THAT(*ids(0, 0.5, 1.9, 9), ElementsAre(1));
  EXPECT_FALSE(ids(0, 0.5, 2.1, 9));  // a 2 is needed, and which one is not known
  EXPECT_FALSE(ids(0, 0.9, 5, 9));
  EXPECT_FALSE(ids(0, 1, 5, 9));
}

// A million draws of a fixed seed: neither too far from the exact distribution nor too near.
TEST(Sampler, AMillionDrawsFollowTheExactDistribution) {
  constexpr int draws = 1000000;
  std::mt19937 rng(3);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> logits(280);  // a whole block and a part of one
  std::generate(logits.begin(), logits.end(), [&] { return normal(rng); });
  struct Case {
    query::Generate fields;
    double least;  // quantiles 0.001 and 0.999 of chi-square with one degree less than there are tokens
    double most;
  };
  const Case cases[] = {{asked(0.8, 0, 1, 11), 211.66, 357.73}, {asked(0.8, 40, 1, 12), 17.26, 72.05}};
  for (const auto& [fields, least, most] : cases) {
    std::vector<std::pair<float, std::size_t>> order;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      order.emplace_back(-logits[i], i);
    }
    std::sort(order.begin(), order.end());
    order.resize(fields.top_k > 0 ? static_cast<std::size_t>(fields.top_k) : order.size());
    double total = 0;
    for (const auto& [value, id] : order) {
      total += std::exp(-static_cast<double>(value) / 0.8);
    }
    std::vector<int> seen(logits.size());
    const auto left = left_of(logits, fields);
    for (std::uint64_t step = 0; step < draws; ++step) {
      const auto id =
          fields.top_k > 0 ? pick(left, sampling_of(fields, step, logits.size()).unit) : next(logits, fields, step);
      ++seen[static_cast<std::size_t>(id)];
    }
    double statistic = 0;
    int counted = 0;
    for (const auto& [value, id] : order) {
      const double wanted = draws * std::exp(-static_cast<double>(value) / 0.8) / total;
      statistic += (seen[id] - wanted) * (seen[id] - wanted) / wanted;
      counted += seen[id];
    }
    EXPECT_EQ(counted, draws);
    EXPECT_GT(statistic, least);
    EXPECT_LT(statistic, most);
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
    ++seen[next(logits, one, over_seeds ? 3 : i)];
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

TEST(Sampler, ThePenaltyMovesWhatTheTextHoldsOnce) {
  const std::vector<float> logits = {2, -2, 3, -3, 0, 1};
  const std::vector<query::TokenId> prompt = {0, 1, 0, 900};
  const std::vector<query::TokenId> added = {1, 4, 2};
  EXPECT_THAT(penalized(logits, prompt, added, 2), ElementsAre(1, -4, 1.5F, -3, 0, 1));
  EXPECT_THAT(penalized(logits, prompt, added, 0.5), ElementsAre(4, -1, 6, -3, 0, 1));
  EXPECT_THAT(penalized(logits, prompt, {}, 1.3), ElementsAre(2 / 1.3F, -2 * 1.3F, 3, -3, 0, 1));
  const auto extreme = penalized(std::vector<float>{-3e38F, 3e38F}, prompt, {}, 100);
  EXPECT_EQ(extreme[0], std::numeric_limits<float>::lowest());
  EXPECT_EQ(extreme[1], 3e38F / 100);
}

TEST(Sampler, ExtremeFieldsAreHarmless) {
  const std::vector<float> logits = {-3e38F, 3e38F, 3e38F, 0};
  for (std::uint64_t step = 0; step < 100; ++step) {
    const auto id = next(logits, asked(1e-300, 0, 1, 1), step);
    EXPECT_TRUE(id == 1 || id == 2);
    EXPECT_EQ(next(logits, asked(1e-300, 0, 1e-300, 1), step), 1);
  }
  EXPECT_GE(next(logits, asked(1e300, 2, 0.999, 1), 1), 1);
}

}  // namespace
}  // namespace stereosweep::engine
