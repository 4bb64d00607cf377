#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/sequential/Boundary.hpp"

namespace stereosweep::stats {
namespace {

constexpr std::size_t num_planted = 12;
const std::vector<double> planted_differences = {0.3, -1.2, 0.7, 2.5, 0.1, -0.4, 1.1, 0.9, -0.2, 1.7, 0.6, 3.1};

std::vector<double> with_signs(std::size_t signs) {
  auto values = planted_differences;
  for (std::size_t place = 0; place < num_planted; ++place) {
    values[place] *= (signs >> place & 1U) != 0 ? -1 : 1;
  }
  return values;
}

TEST(FlipEvalue, has_a_mean_of_1_over_all_signs) {
  double sum = 0;
  for (std::size_t signs = 0; signs < (1U << num_planted); ++signs) {
    sum += flip_e_value(with_signs(signs), 6);
  }
  EXPECT_NEAR(sum / (1U << num_planted), 1, 1e-12);
}

TEST(FlipEvalue, has_a_mean_of_at_most_1_where_it_is_stopped) {
  double sum = 0;
  for (std::size_t signs = 0; signs < (1U << num_planted); ++signs) {
    const auto values = with_signs(signs);
    std::size_t length = 6;  // what is looked at first
    while (length < num_planted && flip_e_value({values.begin(), values.begin() + length}, 6) < 5) {
      ++length;
    }
    sum += flip_e_value({values.begin(), values.begin() + length}, 6);
  }
  EXPECT_NEAR(sum / (1U << num_planted), 1, 1e-12);  // a bounded time: exactly 1
}

TEST(FlipEvalue, is_that_of_the_definition_and_at_most_a_power_of_two) {
  double square = 0;
  for (std::size_t place = 0; place < 6; ++place) {
    square += planted_differences[place] * planted_differences[place] / 6;
  }
  double expected = 0;
  for (const double bet : {-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0}) {
    double product = 1;
    for (const double value : planted_differences) {
      const double stake = bet * value / std::sqrt(square);
      product *= std::exp(stake) / std::cosh(stake);
    }
    expected += product / 8;
  }
  EXPECT_NEAR(flip_e_value(planted_differences, 6), expected, 1e-12 * expected);
  for (std::size_t length = 1; length < 40; ++length) {
    EXPECT_LE(flip_e_value(std::vector<double>(length, 1e9), 6), std::ldexp(1.0, static_cast<int>(length) - 1));
  }
  EXPECT_EQ(flip_e_value({}, 6), 1);
  EXPECT_EQ(flip_e_value(std::vector<double>(9, 0), 6), 1);
}

}  // namespace
}  // namespace stereosweep::stats
