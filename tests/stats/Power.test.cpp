#include "stats/Power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "stats/Summary.hpp"
#include "stats/permutation/SignFlip.hpp"
#include "support/Places.hpp"

namespace stereosweep::stats {
namespace {

const base::Json& power_goldens() {
  static const auto goldens =
      base::parse_json(base::read_file(source_directory() + "/tests/stats/goldens.json"), "goldens.json");
  return goldens;
}

TEST(Power, IsThatOfScipysNoncentralT) {
  ASSERT_GT(power_goldens().at("powers").size(), 80U);
  for (const auto& item : power_goldens().at("powers")) {
    const auto effect = item.at(0).get<double>();
    const auto n = item.at(1).get<std::size_t>();
    const auto level = item.at(2).get<double>();
    EXPECT_NEAR(sign_flip_power(effect, n, level), item.at(3).get<double>(), 1e-10) << effect << ' ' << n;
    EXPECT_EQ(sign_flip_power(-effect, n, level), sign_flip_power(effect, n, level)) << effect << ' ' << n;
  }
  for (const auto& item : power_goldens().at("variance_factors")) {
    EXPECT_NEAR(upper_variance_factor(item.at(0).get<double>(), item.at(1).get<double>()) / item.at(2).get<double>(), 1,
                1e-11);
  }
}

TEST(Power, KnowsWhichPCanBeAttained) {
  for (std::size_t n = 0; n < 6; ++n) {
    EXPECT_EQ(sign_flip_power(3, n, 0.05), 0) << n;
  }
  const auto normal = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2)); };
  for (const double effect : {0.0, 0.3, 1.0, 2.5}) {  // six differences: all of one sign
    EXPECT_NEAR(sign_flip_power(effect, 6, 0.05), std::pow(normal(effect), 6) + std::pow(normal(-effect), 6), 1e-14);
  }
  EXPECT_EQ(sign_flip_power(HUGE_VAL, 6, 0.05), 1);
  EXPECT_EQ(sign_flip_power(HUGE_VAL, 20, 0.05), 1);
  EXPECT_EQ(sign_flip_power(1, 100'000, 0.05), 1);
  EXPECT_TRUE(std::isnan(sign_flip_power(nan, 20, 0.05)));
  EXPECT_NEAR(sign_flip_power(0, 20, 0.05), 0.05, 1e-5);
  EXPECT_NEAR(sign_flip_power(0, 7, 0.05), 3.0 / 64, 1e-12);
}

TEST(Power, IsReachedBySimulatedTests) {
  constexpr int num_tables = 2000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const auto& [n, effect] : {std::pair<std::size_t, double>{6, 1.6}, {7, 1.2}, {10, 1.0}, {14, 0.8}, {20, 0.5}}) {
    int reached = 0;
    for (int table = 0; table < num_tables; ++table) {
      std::vector<double> differences;
      for (std::size_t i = 0; i < n; ++i) {
        differences.push_back(effect + normal(random));
      }
      reached += sign_flip_test(differences, {}).two_sided <= 0.05 ? 1 : 0;
    }
    const double promised = sign_flip_power(effect, n, 0.05);
    const double share = static_cast<double>(reached) / num_tables;
    const double error = std::sqrt(promised * (1 - promised) / num_tables);
    EXPECT_NEAR(share, promised, 4 * error + (n == 7 ? 0.03 : n == 6 ? 0 : 0.01)) << n << ' ' << effect;
  }
}

TEST(Power, EnoughIsTheFirstThatReachesIt) {
  for (const double effect : {0.05, 0.2, 0.5, 0.8, 1.5, 4.0}) {
    for (const double level : {0.05, 0.01}) {
      const auto enough = enough_differences(effect, 0.8, level, 100'000);
      ASSERT_TRUE(enough) << effect;
      EXPECT_GE(sign_flip_power(effect, *enough, level), 0.8) << effect;
      EXPECT_LT(sign_flip_power(effect, *enough - 1, level), 0.8) << effect;
    }
  }
  EXPECT_EQ(enough_differences(0.5, 0.8, 0.05, 100'000), 34U);  // as any table of the paired t test has it
  EXPECT_EQ(enough_differences(HUGE_VAL, 0.8, 0.05, 100'000), 6U);
  EXPECT_EQ(enough_differences(0.001, 0.8, 0.05, 100'000), std::nullopt);
}

}  // namespace
}  // namespace stereosweep::stats
