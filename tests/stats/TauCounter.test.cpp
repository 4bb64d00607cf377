#include "stats/TauCounter.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "stats/Correlation.hpp"

namespace stereosweep::stats {
namespace {

/// The plain definition on the cells that both have.
double plain_tau_b(const std::vector<double>& left, const std::vector<double>& right) {
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t cell = 0; cell < left.size(); ++cell) {
    if (!std::isnan(left[cell]) && !std::isnan(right[cell])) {
      x.push_back(left[cell]);
      y.push_back(right[cell]);
    }
  }
  return kendall_tau_b(x, y).value;
}

/// Wide, tied, crowded into a corner of its range, or constant.
std::vector<double> values_of(std::mt19937_64& random, std::size_t size, int kind) {
  std::vector<double> values;
  for (std::size_t place = 0; place < size; ++place) {
    const double normal = std::normal_distribution<double>()(random);
    values.push_back(kind == 0 ? normal : kind == 1 ? std::round(2 * normal) : kind == 2 ? std::exp(30 * normal) : 7.5);
    if (random() % 9 == 0) {
      values.back() = nan;
    }
  }
  return values;
}

TEST(TauCounter, IsKendallsTauBOfTheCellsThatBothHave) {
  std::mt19937_64 random(4);
  int defined = 0;
  for (const std::size_t size : {0, 1, 2, 3, 16, 63, 64, 65, 400, 1000}) {
    TauCounter counter(size);
    for (int left_kind = 0; left_kind < 4; ++left_kind) {
      const auto left = values_of(random, size, left_kind);
      counter.set_left(left);
      for (int repeat = 0; repeat < 12; ++repeat) {
        const auto right = values_of(random, size, repeat % 4);
        const double plain = plain_tau_b(left, right);
        const double ours = counter.tau_b(right);
        ASSERT_EQ(std::isnan(ours), std::isnan(plain)) << size << ' ' << left_kind << ' ' << repeat;
        if (!std::isnan(plain)) {
          EXPECT_NEAR(ours, plain, 1e-12);
          ++defined;
        }
      }
    }
  }
  EXPECT_GT(defined, 150);
}

TEST(TauCounter, SortsExtremeNumbers) {
  SortedNumbers sorted;
  const std::vector<double> values = {1e308, -1e308, 0, 5e-324, nan, -5e-324, 1e308};
  sorted.sort(values);
  ASSERT_EQ(sorted.size(), 6U);
  EXPECT_THAT(sorted.cells(), ::testing::ElementsAre(1, 5, 2, 3, 0, 6));
}

}  // namespace
}  // namespace stereosweep::stats
