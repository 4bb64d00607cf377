#include "findings/correlations/Correlations.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>

#include "base/Error.hpp"
#include "findings/FindingNumbers.hpp"
#include "findings/RandomScores.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "stats/Correlation.hpp"

namespace stereosweep::findings {
namespace {

using sweep::CorrelationRequest;
using Within = CorrelationRequest::Within;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t num_rated_subjects = 12;

/// 2 measures, 12 subjects, 2 templates, 1 rephrasing, 2 replicates, 4 items of the dimensions a, a, b and none.
RandomScores rated(std::uint64_t seed, double missing) {
  RandomScores random({2, num_rated_subjects, 2, 1, 2, 4});
  random.fill(seed, missing);
  random.table.axes[item_axis].coordinates = {{"dimension", "", {"a", "a", "b", ""}}};
  return random;
}

/// By the definition: cells first, then their mean. `items` are averaged.
double plain_mean(RandomScores& random, std::size_t measure, std::size_t subject,
                  const std::vector<std::size_t>& items) {
  double sum = 0;
  double count = 0;
  for (const auto item : items) {
    for (std::size_t sentence = 0; sentence < 2; ++sentence) {
      const double first = random.at({measure, subject, sentence, 0, 0, item});
      const double second = random.at({measure, subject, sentence, 0, 1, item});
      if (!std::isnan(first) || !std::isnan(second)) {
        sum += std::isnan(first) ? second : std::isnan(second) ? first : (first + second) / 2;
        count += 1;
      }
    }
  }
  return count > 0 ? sum / count : stats::nan;
}

sweep::Comparison asked(std::vector<CorrelationRequest> requests) {
  sweep::Comparison comparison;
  comparison.correlations = std::move(requests);
  comparison.replicates = 100;
  comparison.draws = 200;
  return comparison;
}

const CorrelationRequest dimensions_request = {.name = "both", .rows = {{"item.dimension", {"a", "b"}}}};

TEST(FindingsCorrelations, AreOfSubjectsMeanScores) {
  std::size_t num_defined = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto random = rated(seed, seed % 2 == 0 ? 0 : 0.4);
    auto request = dimensions_request;
    request.columns = {{"item", {"item3"}}};
    request.methods = {CorrelationRequest::Method::pearson, CorrelationRequest::Method::kendall};
    const auto found = correlations_of(random.scores(), asked({request}), nullptr, 5).front();
    ASSERT_EQ(found.num_rows(), 2U * 2 * 2);
    const std::vector<std::vector<std::size_t>> sides = {{0, 1}, {2}};
    for (std::size_t row = 0; row < found.num_rows(); ++row) {
      std::vector<double> left;
      std::vector<double> right;
      for (std::size_t subject = 0; subject < num_rated_subjects; ++subject) {
        const double x = plain_mean(random, row / 4, subject, sides[row / 2 % 2]);
        const double y = plain_mean(random, row / 4, subject, {3});
        if (!std::isnan(x) && !std::isnan(y)) {
          left.push_back(x);
          right.push_back(y);
        }
      }
      ASSERT_EQ(number_in(found, "n", row), left.size());
      const double p = number_in(found, "p", row);
      const double p_holm = number_in(found, "p_holm", row);
      const auto plain = row % 2 == 0 ? stats::pearson(left, right) : stats::kendall_tau_b(left, right);
      if (plain.defined() && left.size() > 2) {
        EXPECT_NEAR(number_in(found, "coefficient", row), plain.value, 1e-9);
        EXPECT_GE(p_holm, p);
        EXPECT_GE(number_in(found, "p_yekutieli", row), p);
        EXPECT_EQ(number_in(found, "p_low", row) == number_in(found, "p_high", row), left.size() <= 8);
        ++num_defined;
      } else {
        EXPECT_TRUE(std::isnan(p) && std::isnan(p_holm) && std::isnan(number_in(found, "low", row)));
      }
    }
  }
  EXPECT_GT(num_defined, 200U);
}

TEST(FindingsCorrelations, PairsAreNamedOnce) {
  auto random = rated(1, 0);
  auto request = dimensions_request;
  request.rows.push_back({"item", {"item2", "item0"}});  // item2 is all of b
  request.measures = {"measure1"};
  const auto found = correlations_of(random.scores(), asked({request}), nullptr, 5).front();
  ASSERT_EQ(found.num_rows(), 3U);
  EXPECT_EQ(label_in(found, "row", 0) + label_in(found, "column", 0), "ab");
  EXPECT_THAT(told_by(found, 10).text(), HasSubstr("items in common (a x item0)"));
}

TEST(FindingsCorrelations, AreTakenWithinClusters) {
  auto random = rated(1, 0);
  auto request = dimensions_request;
  request.within = Within::clusters;
  request.measures = {"measure0"};
  const auto scores = random.scores();
  const auto clusters = clusters_of(scores, {.number = "2"}, 5);
  const auto correlated = correlations_of(
      scores, asked({request}), [&] { return &clusters; }, 5);
  const auto& found = correlated.front();
  ASSERT_EQ(found.num_rows(), 3U);
  EXPECT_EQ(number_in(found, "n", 1) + number_in(found, "n", 2), num_rated_subjects);
  EXPECT_THAT(label_in(found, "among", 2), StartsWith("cluster 1: "));
  EXPECT_THAT(told_by(found, 10).text(), HasSubstr("restricted range"));
  const auto among_all = correlations_of(scores, asked({dimensions_request}), nullptr, 5);
  EXPECT_THAT(told_by(among_all.front(), 10).text(), Not(HasSubstr("restricted range")));
}

std::string refusal(const CorrelationRequest& request) {
  auto random = rated(1, 0);
  try {
    correlations_of(random.scores(), asked({request}), nullptr, 5);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FindingsCorrelations, TellAllThatTheTableDoesNotHave) {
  const auto text = refusal({.name = "x",
                             .rows = {{"item.dimension", {"a", "c"}}, {"item.dimensions", {"a"}}},
                             .columns = {{"item", {"item9"}}},
                             .measures = {"measure7"}});
  EXPECT_THAT(text, HasSubstr("statistics.correlations 'x': no 'c' on item.dimension"));
  EXPECT_THAT(text, HasSubstr("no axis or coordinate 'item.dimensions'"));
  EXPECT_THAT(text, HasSubstr("no 'item9' on item"));
  EXPECT_THAT(text, HasSubstr("no measure 'measure7'"));
  EXPECT_THAT(refusal({.name = "x", .rows = {{"item", {"item1"}}}}), HasSubstr("no two different sets of items"));
  auto within = dimensions_request;
  within.within = Within::clusters;
  EXPECT_THAT(refusal(within), HasSubstr("'measure0' has no clusters to look within"));
}

sweep::Comparison extremes_asked() {
  sweep::Comparison comparison;
  comparison.extremes.emplace();
  return comparison;
}

TEST(FindingsExtremes, ArePlacesOfMeansWithTheirVarianceOverRounds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    auto random = rated(seed, seed % 2 == 0 ? 0 : 0.5);
    const auto found = extremes_of(random.scores(), extremes_asked());
    ASSERT_EQ(found.axes[1].labels, (std::vector<std::string>{"a", "b"}));
    for (std::size_t row = 0; row < found.num_rows(); ++row) {
      const auto subject = row % num_rated_subjects;
      const auto measure = row / num_rated_subjects / 2;
      const std::vector<std::size_t> items =
          row / num_rated_subjects % 2 == 0 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{2};
      const double mean = plain_mean(random, measure, subject, items);
      const double ours = number_in(found, "mean", row);
      EXPECT_TRUE(std::isnan(mean) ? std::isnan(ours) && number_in(found, "place", row) == 0
                                   : std::abs(ours - mean) < 1e-12 * (1 + std::abs(mean)));
      std::vector<double> rounds;
      for (std::size_t replicate = 0; replicate < 2; ++replicate) {
        std::vector<double> cells;
        for (const auto item : items) {
          for (std::size_t sentence = 0; sentence < 2; ++sentence) {
            const double score = random.at({measure, subject, sentence, 0, replicate, item});
            cells.insert(cells.end(), std::isnan(score) ? 0 : 1, score);
          }
        }
        rounds.insert(rounds.end(), cells.empty() ? 0 : 1, stats::mean(cells).value);
      }
      EXPECT_EQ(number_in(found, "rounds", row), rounds.size());
      if (rounds.size() == 2) {
        const double half = (rounds[0] - rounds[1]) / 2;
        EXPECT_NEAR(number_in(found, "variance", row), 2 * half * half, 1e-9 * (1 + half * half));
      } else {
        EXPECT_TRUE(std::isnan(number_in(found, "variance", row)));
      }
    }
  }
}

TEST(FindingsCorrelations, MeansThatDifferByRoundingAreEqual) {
  std::vector<double> values = {0.3, 3, stats::nan, 0.1 + 0.2, 3 + 1e-9};
  equalise(values);
  EXPECT_EQ(values[0], values[3]);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_NE(values[1], values[4]);
}

TEST(FindingsExtremes, EqualMeansShareAPlace) {
  RandomScores random({1, 4, 1, 1, 1, 1});
  for (std::size_t subject = 0; subject < 4; ++subject) {
    random.at({0, subject, 0, 0, 0, 0}) = subject == 3 ? 7 : 1;
  }
  const auto found = extremes_of(random.scores(), extremes_asked());
  ASSERT_EQ(found.axes[1].labels, std::vector<std::string>{"item0"});
  EXPECT_EQ(column_values(found, "place"), (std::vector<double>{2, 2, 2, 1}));
  EXPECT_EQ(reason_in(found, "variance_status", 0), stats::Reason::too_few);
}

/// Of subjects who do not differ, five templates, two items of one dimension: the ends are chosen, p is adjusted for
/// it.
TEST(FindingsExtremes, OfNoiseAreAdjustedForTheirChoice) {
  int num_small = 0;
  int num_covered = 0;
  int num_rows = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomScores random({1, 10, 8, 1, 1, 2});
    random.table.axes[item_axis].coordinates = {{"dimension", "", {"a", "a"}}};
    for (std::size_t subject = 0; subject < 10; ++subject) {
      for (std::size_t place = 0; place < 16; ++place) {
        double noise = 0;
        for (std::uint64_t draw = 0; draw < 12; ++draw) {
          noise += base::random_unit(seed, subject * 16 + place, draw) - 0.5;
        }
        random.at({0, subject, place / 2, 0, 0, place % 2}) = noise + static_cast<double>(place % 2);
      }
    }
    for (std::size_t cell = 0; cell < 8 && seed % 2 == 0; ++cell) {  // one subject lacks an item in half the templates
      random.at({0, 3, cell / 2, 0, 0, 1}) = stats::nan;
    }
    const auto found = extremes_of(random.scores(), extremes_asked());
    num_small += std::ranges::any_of(column_values(found, "p_holm"), [](double p) { return p <= 0.05; }) ? 1 : 0;
    for (std::size_t subject = 4; subject < 10; ++subject) {  // whose composition is equal
      num_covered += number_in(found, "low", subject) <= 0.5 && number_in(found, "high", subject) >= 0.5 ? 1 : 0;
      ++num_rows;
    }
  }
  EXPECT_LE(num_small, 20);  // 10 are expected, with a standard error of 3.1
  EXPECT_GT(num_covered, 0.93 * num_rows);
  EXPECT_LT(num_covered, 0.97 * num_rows);
}

}  // namespace
}  // namespace stereosweep::findings
