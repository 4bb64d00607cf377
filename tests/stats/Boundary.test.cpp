#include "stats/sequential/Boundary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <span>

namespace stereosweep::stats {
namespace {

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// P(beyond at look k and at none before), by integrating over the whole path: the density of what went on is carried
/// on a grid (Armitage, McPherson and Rowe 1969, Journal of the Royal Statistical Society A 132).
std::vector<double> exact_crossings(const std::vector<double>& critical, const std::vector<double>& correlations) {
  constexpr int points = 1201;
  const auto grid = [&](double c, int place) { return -c + 2 * c * place / (points - 1); };
  const auto weight = [&](double c, int place) {  // Simpson
    return 2 * c / (points - 1) / 3 * (place == 0 || place == points - 1 ? 1 : place % 2 == 1 ? 4 : 2);
  };
  std::vector<double> found = {2 * normal_cdf(-critical[0])};
  std::vector<double> density(points);
  for (int place = 0; place < points; ++place) {
    density[place] = std::exp(-std::pow(grid(critical[0], place), 2) / 2) / std::sqrt(2 * std::numbers::pi);
  }
  for (std::size_t look = 1; look < critical.size(); ++look) {
    const double rho = correlations[look];
    const double left = std::sqrt(1 - rho * rho);
    const double before = critical[look - 1];
    const double now = critical[look];
    double beyond = 0;
    std::vector<double> next(points, 0);
    for (int place = 0; place < points; ++place) {
      const double from = weight(before, place) * density[place];
      const double mean = rho * grid(before, place);
      beyond += from * (normal_cdf((mean - now) / left) + normal_cdf((-now - mean) / left));
      for (int to = 0; to < points; ++to) {
        const double z = (grid(now, to) - mean) / left;
        next[to] += from * std::exp(-z * z / 2) / left / std::sqrt(2 * std::numbers::pi);
      }
    }
    found.push_back(beyond);
    density = next;
  }
  return found;
}

std::vector<Look> planned_variances(const std::vector<double>& variances, double templates) {
  std::vector<Look> looks;
  for (std::size_t look = 0; look < variances.size(); ++look) {
    const double information = variances.back() / variances[look];
    looks.push_back(
        {.statistic = 0,
         .correlation = look > 0 ? std::sqrt(variances[look] / variances[look - 1]) * (1 - 1 / templates) : 0,
         .spent = spent_share(information)});
  }
  return looks;
}

/// Rounds of 35 x 20 with variances of 1 : .05 : .5; margins of columns are even within one cell.
std::vector<Look> usual_looks() {
  const auto variance = [](double rows, double columns_spread, double cells) {
    return 1 / rows + 0.05 * columns_spread + 0.5 / cells;
  };
  const double one_layer = (15 * 4.0 + 5) / (35 * 35);
  const double two_layers = (10 * 16.0 + 10 * 9) / (70 * 70);
  return planned_variances({variance(12, 1.0 / 12, 12), variance(20, 1.0 / 20, 20), variance(35, one_layer, 35),
                            variance(35, two_layers, 70), variance(35, 1.0 / 20, 140), variance(35, 1.0 / 20, 280),
                            variance(35, 1.0 / 20, 700)},
                           35);
}

TEST(Boundary, has_the_values_of_the_simulated_plan) {  // an implementation in numpy with other integration and search
  const std::array<std::pair<double, std::vector<double>>, 2> expected = {
      {{0.05, {3.84, 3.86, 3.07, 2.61, 2.31, 2.17, 2.10}}, {0.001, {4.71}}}};
  for (const auto& [level, critical] : expected) {
    const auto found = boundaries(usual_looks(), level);
    for (std::size_t look = 0; look < critical.size(); ++look) {
      EXPECT_NEAR(found[look], critical[look], 0.006) << level << ", look " << look;
    }
  }
  EXPECT_NEAR(boundaries(usual_looks(), 0.001).back(), 3.45, 0.006);
  EXPECT_NEAR(boundaries(usual_looks(), 5e-6).front(), 5.70, 0.006);
  EXPECT_NEAR(boundaries(usual_looks(), 5e-6).back(), 4.72, 0.006);
}

TEST(Boundary, is_that_of_two_looks_in_the_tables_of_group_sequential_tests) {  // Jennison and Turnbull 2000, ch. 2
  const double rho = std::sqrt(0.5);
  for (const auto& [first, second] : {std::pair(2.178, 2.178), std::pair(1.977 * std::sqrt(2.0), 1.977)}) {
    const double spent = 2 * normal_cdf(-first);
    EXPECT_NEAR(next_boundary(0.05 - spent, first, rho), second, 0.002);
  }
}

TEST(Boundary, spends_at_most_the_level_and_little_less) {
  for (const double level : {0.05, 0.01, 0.001}) {
    const auto looks = usual_looks();
    std::vector<double> correlations;
    std::ranges::transform(looks, std::back_inserter(correlations), &Look::correlation);
    const auto crossings = exact_crossings(boundaries(looks, level), correlations);
    double sum = 0;
    double before = 0;
    for (std::size_t look = 0; look < looks.size(); ++look) {
      sum += crossings[look];
      EXPECT_LE(crossings[look], level * (looks[look].spent - before) * (1 + 1e-5)) << look;
      before = looks[look].spent;
    }
    EXPECT_LE(sum, level * (1 + 1e-5));
    EXPECT_GT(sum, 0.9 * level);
  }
}

TEST(Boundary, solves_its_equation) {
  for (const double before : {0.0, 0.3, 1.0, 2.5, 5.0, 38.0}) {
    for (const double rho : {0.0, 0.3, 0.9, 0.97, 0.998, 0.9997}) {
      for (const double spend : {0.3, 0.01, 1e-4, 1e-9}) {
        const double c = next_boundary(spend, before, rho);
        double outside = 0;  // trapezoids, close enough for the steepest tail
        constexpr int steps = 200'000;
        const double end = std::min(before, 10.0);
        for (int step = 0; step <= steps; ++step) {
          const double z = end * step / steps;
          const double left = std::sqrt(1 - rho * rho);
          const double tail = normal_cdf((rho * z - c) / left) + normal_cdf((-c - rho * z) / left);
          outside += (step == 0 || step == steps ? 0.5 : 1) * std::exp(-z * z / 2) * tail;
        }
        outside *= 2 * end / steps / std::sqrt(2 * std::numbers::pi);
        if (c > 0) {
          EXPECT_NEAR(outside / spend, std::min(1.0, (2 * normal_cdf(before) - 1) / spend), rho < 0.999 ? 0.002 : 0.02)
              << before << ' ' << rho << ' ' << spend << ' ' << c;
        } else {
          EXPECT_LE(outside, spend * 1.002);
        }
      }
    }
  }
}

TEST(Boundary, falls_where_the_level_grows) {
  auto last = boundaries(usual_looks(), 1e-7);
  for (double level = 1.3e-7; level < 0.9; level *= 1.3) {
    const auto now = boundaries(usual_looks(), level);
    for (std::size_t look = 0; look < now.size(); ++look) {
      EXPECT_LE(now[look], last[look] + 1e-9) << level << ", look " << look;
    }
    last = now;
  }
}

TEST(Boundary, meets_quantiles_of_student) {  // scipy.stats: t.isf(norm.sf(z), df)
  EXPECT_NEAR(as_student(1.959963984540054, 10), 2.2281388519649385, 1e-9);
  EXPECT_NEAR(as_student(3.84, 11), 5.778907223174511, 1e-9);
  EXPECT_EQ(as_student(0, 5), 0);
  for (const double degrees : {1.0, 4.0, 11.0, 34.5, 1e4}) {
    for (const double z : {0.01, 0.5, 1.96, 3.84, 6.0}) {
      EXPECT_NEAR(as_normal(as_student(z, degrees), degrees), z, 1e-7) << degrees << ' ' << z;
    }
  }
}

TEST(Boundary, crosses_where_all_boundaries_say_so) {
  std::uint64_t state = 7;
  const auto draw = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 11U) * 0x1p-53;
  };
  for (int row = 0; row < 300; ++row) {
    auto looks = usual_looks();
    for (auto& look : looks) {
      look.statistic = 5 * draw();
    }
    for (const double level : {0.3, 0.05, 0.001}) {
      const auto critical = boundaries(looks, level);
      std::optional<std::size_t> expected;
      for (std::size_t look = 0; look < looks.size() && !expected; ++look) {
        expected = looks[look].statistic > critical[look] ? std::optional(look) : std::nullopt;
      }
      EXPECT_EQ(first_beyond(looks, level), expected);
    }
    const double p = sequential_p(looks);
    EXPECT_TRUE(p == 1 || first_beyond(looks, p));
    EXPECT_FALSE(p < 1 && first_beyond(looks, p * 0.997)) << p;
    const double earlier = sequential_p(std::span(looks).first(4));
    EXPECT_LE(p, earlier * 1.002);
  }
}

/// The mixture itself, integrated over means with the variance h: its e-value at the boundary is 1 / level.
TEST(ConfidenceSequence, is_where_a_mixture_reaches_one_over_the_level) {
  for (const double level : {0.3, 0.05, 1e-4}) {
    for (const double mixture : {0.02, 0.125, 1.0, 9.0}) {  // V / h, with V = 1
      const double c = confidence_sequence(level, mixture);
      const double h = 1 / mixture;
      double sum = 0;
      constexpr int steps = 40'000;
      const double width = 12 * std::sqrt(h);
      for (int step = 0; step < steps; ++step) {
        const double mean = width * (2 * (step + 0.5) / steps - 1);
        sum += std::exp(-mean * mean / (2 * h) + c * mean - mean * mean / 2) * 2 * width / steps;
      }
      EXPECT_NEAR(sum / std::sqrt(2 * std::numbers::pi * h) * level, 1, 1e-6) << level << ' ' << mixture;
    }
  }
}

TEST(ConfidenceSequence, gives_its_p_by_inversion) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit;
  for (int sequence = 0; sequence < 200; ++sequence) {
    std::vector<Look> looks;
    for (double mixture = 4 * unit(random) + 0.1; looks.size() < 6; mixture *= 0.3 + 0.6 * unit(random)) {
      looks.push_back({.statistic = 5 * unit(random), .correlation = 0, .spent = 1, .mixture = mixture});
    }
    for (std::size_t count = 1; count < looks.size(); ++count) {  // p only falls
      EXPECT_LE(sequential_p(looks), sequential_p(std::span(looks).first(count)));
    }
    const double p = sequential_p(looks);
    EXPECT_LE(p, 1);
    EXPECT_FALSE(first_beyond(looks, p * (1 - 1e-9)));
    EXPECT_EQ(first_beyond(looks, std::min(p * (1 + 1e-9), 1.0)).has_value(), p < 1);
  }
}

/// Means of normal values, looked at after each of 2,000 values, none of which was declared.
TEST(ConfidenceSequence, holds_at_looks_that_nobody_declared) {
  constexpr int walks = 2000;
  constexpr double level = 0.1;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  int crossed = 0;
  for (int walk = 0; walk < walks; ++walk) {
    double sum = 0;
    bool is_beyond = false;
    for (int count = 1; count <= 2000 && !is_beyond; ++count) {
      sum += normal(random);
      const double variance = 1.0 / count;
      is_beyond = std::abs(sum) / std::sqrt(count) > confidence_sequence(level, variance * 30 / 8);
    }
    crossed += is_beyond ? 1 : 0;
  }
  EXPECT_LT(crossed, walks * level + 3 * std::sqrt(walks * level * (1 - level)));
  EXPECT_GT(crossed, walks * level / 4);  // it is not idle either
}

}  // namespace
}  // namespace stereosweep::stats
