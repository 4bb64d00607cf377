// The closed form against two independent ways: column squishing written from its description, and the conditions
// that a minimum must meet (Karush-Kuhn-Tucker), beside a golden-section search of the one-dimensional problem.
#include "engine/readout/SetDistance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace stereosweep::engine {
namespace {

struct Case {
  std::vector<float> logits;
  std::size_t target = 0;
  double norm = 1;
  double margin = 1;
};

// Logits on a coarse grid half of the time, so that ties and duplicates are common.
Case random_case(std::mt19937_64& rng) {
  Case made;
  const auto size = std::uniform_int_distribution<std::size_t>(1, 60)(rng);
  const double spread = std::array{0.3, 2.0, 8.0}[rng() % 3];
  const bool grid = rng() % 2 == 0;
  std::normal_distribution<double> normal(0, spread);
  for (std::size_t i = 0; i < size; ++i) {
    const double value = normal(rng);
    made.logits.push_back(static_cast<float>(grid ? std::round(value) : value));
  }
  made.target = rng() % size;
  made.norm = std::array{0.25, 1.0, 39.5}[rng() % 3];
  made.margin = std::array{0.01, 1.0, 3.0}[rng() % 3];
  return made;
}

// `widened`: how often more of the row had to be kept.
SetSolution solve(const Case& c, std::size_t kept = SetRow::usually_kept, int* widened = nullptr) {
  SetRow row(find_largest(c.logits, kept), c.logits.size(), c.norm);
  auto found = row.solve(c.target, c.logits[c.target], c.margin);
  for (; !found; found = row.solve(c.target, c.logits[c.target], c.margin)) {
    row.widen(c.logits);
    if (widened != nullptr) {
      ++*widened;
    }
  }
  return *found;
}

// Column squishing (paper-systems: sort the demands, walk while they exceed the running mean).
double squish(const Case& c) {
  std::vector<double> demands;
  for (std::size_t i = 0; i < c.logits.size(); ++i) {
    if (i != c.target) {
      demands.push_back((double{c.logits[i]} - double{c.logits[c.target]} + c.margin) / c.norm);
    }
  }
  std::sort(demands.rbegin(), demands.rend());
  double mu = 0;
  std::size_t active = 0;
  for (const double demand : demands) {
    if (demand <= mu) {
      break;
    }
    ++active;
    mu = (static_cast<double>(active) * mu + demand) / static_cast<double>(active + 1);
  }
  double squares = mu * mu;
  for (const double demand : demands) {
    squares += std::pow(std::min(0.0, mu - demand), 2);
  }
  return std::sqrt(c.norm * squares);
}

double cost(const Case& c, double tau) {
  const double b = double{c.logits[c.target]} - c.margin;
  double total = (tau - b) * (tau - b);
  for (std::size_t i = 0; i < c.logits.size(); ++i) {
    total += i == c.target ? 0 : std::pow(std::max(0.0, double{c.logits[i]} - tau), 2);
  }
  return total;
}

// Golden-section search of the convex cost over tau >= b.
double search(const Case& c) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = double{c.logits[c.target]} - c.margin;
  double high = std::max(low, double{*std::max_element(c.logits.begin(), c.logits.end())});
  for (int i = 0; i < 200; ++i) {
    const double left = high - ratio * (high - low);
    const double right = low + ratio * (high - low);
    (cost(c, left) < cost(c, right) ? high : low) = cost(c, left) < cost(c, right) ? right : left;
  }
  return std::sqrt(cost(c, (low + high) / 2) / c.norm);
}

TEST(SetDistance, EqualsColumnSquishingAndTheSearch) {
  std::mt19937_64 rng(20220710);
  for (int i = 0; i < 5000; ++i) {
    const auto c = random_case(rng);
    const auto solution = solve(c);
    ASSERT_NEAR(solution.distance, squish(c), 1e-12 * (1 + squish(c))) << "case " << i;
    ASSERT_NEAR(solution.distance, search(c), 1e-7 * (1 + search(c))) << "case " << i;
    ASSERT_EQ(solution.status == query::SetStatus::leads, squish(c) == 0);
  }
}

TEST(SetDistance, SolutionMeetsTheConditionsOfAMinimum) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 3000; ++i) {
    const auto c = random_case(rng);
    const auto solution = solve(c);
    if (solution.status == query::SetStatus::leads) {
      continue;
    }
    const double raised = solution.threshold + c.margin - double{c.logits[c.target]};
    double moved = raised;
    int active = 0;
    for (std::size_t j = 0; j < c.logits.size(); ++j) {
      const double excess = double{c.logits[j]} - solution.threshold;
      if (j != c.target && excess > 0) {
        moved -= excess;
        ++active;
      }
    }
    ASSERT_GT(raised, 0);
    ASSERT_NEAR(moved, 0, 1e-10 * (1 + raised));       // what the target gains the others lose
    ASSERT_LE(std::abs(active - solution.active), 1);  // a competitor that ties with tau may count or not
  }
}

TEST(SetDistance, FewKeptGiveTheSameBits) {
  std::mt19937_64 rng(11);
  int widened = 0;
  for (int i = 0; i < 2000; ++i) {
    auto c = random_case(rng);
    for (int copies = 0; copies < 12; ++copies) {  // long enough that a selection leaves something out
      c.logits.insert(c.logits.end(), c.logits.begin(),
                      c.logits.begin() + std::min<std::ptrdiff_t>(60, std::ssize(c.logits)));
    }
    const auto left = solve(c, 1 + rng() % 4, &widened);
    const auto right = solve(c, c.logits.size());
    ASSERT_EQ(left.distance, right.distance);
    ASSERT_EQ(left.active, right.active);
    ASSERT_EQ(left.threshold, right.threshold);
  }
  EXPECT_GT(widened, 100);
}

TEST(SetDistance, KnownValues) {
  EXPECT_NEAR(std::pow(solve({{4, 4, 0}, 0, 1, 1}).distance, 2), 0.5, 1e-15);  // tie at the top
  EXPECT_EQ(solve({{2}, 0, 1, 1}).distance, 0);                                // nobody to beat
  EXPECT_EQ(solve({{5, 4, 1}, 0, 1, 1}).status, query::SetStatus::leads);      // by exactly the margin
  const auto one = solve({{3, 1, -50}, 1, 9, 1});                              // one competitor
  EXPECT_NEAR(one.distance, (3 - 1 + 1) / (std::sqrt(2.0) * 3), 1e-15);
  EXPECT_EQ(one.active, 1);
}

TEST(SetDistance, Invariances) {
  std::mt19937_64 rng(5);
  for (int i = 0; i < 500; ++i) {
    auto c = random_case(rng);
    const double distance = solve(c).distance;
    auto scaled = c;  // h times 4: logits and margin times 4, H times 16
    auto shifted = c;
    for (std::size_t j = 0; j < c.logits.size(); ++j) {
      scaled.logits[j] *= 4;
      shifted.logits[j] = static_cast<float>(double{c.logits[j]} + 8);
    }
    scaled.margin *= 4;
    scaled.norm *= 16;
    ASSERT_NEAR(solve(scaled).distance, distance, 1e-12 * (1 + distance));
    ASSERT_NEAR(solve(shifted).distance, distance, 1e-5 * (1 + distance));  // the shift itself rounds
    auto wider = c;
    wider.margin += 0.5;
    ASSERT_GE(solve(wider).distance, distance);
    auto stronger = c;
    stronger.logits[c.target] += 0.5F;
    ASSERT_LE(solve(stronger).distance, distance);
  }
}

TEST(SetDistance, WhatCannotBeCertifiedSaysSo) {
  const auto solution = solve({{1, std::numeric_limits<float>::infinity()}, 0, 1, 1});
  EXPECT_EQ(solution.status, query::SetStatus::not_certified);
  EXPECT_TRUE(std::isnan(solution.distance));
  EXPECT_EQ(solve({{1, 2}, 0, 0, 1}).status, query::SetStatus::not_certified);  // h = 0 moves nothing
  EXPECT_EQ(solve({{9, 2}, 0, 0, 1}).status, query::SetStatus::leads);
}

}  // namespace
}  // namespace stereosweep::engine
