#include "stats/embedding/Detection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/Random.hpp"

namespace stereosweep::stats {
namespace {

DetectionScores random_scores(std::uint64_t seed, std::size_t num_words) {
  DetectionScores scores{num_words, {}, {}};
  for (std::uint32_t comparison = 0; comparison < 8; ++comparison) {
    std::vector<double> values;
    for (std::uint32_t word = 0; word < num_words; ++word) {  // in twentieths, so that thresholds tie
      const base::DrawKey key{.seed = seed, .test = comparison, .word = word};
      values.push_back(static_cast<double>(base::philox_below(61, key)) / 20 - 1.5);
    }
    (comparison < 5 ? scores.against : scores.single_axis).push_back(std::move(values));
  }
  return scores;
}

std::set<std::size_t> above(const std::vector<double>& values, double threshold) {
  std::set<std::size_t> words;
  for (std::size_t word = 0; word < values.size(); ++word) {
    if (values[word] > threshold) {
      words.insert(word);
    }
  }
  return words;
}

/// The formula of guo2021 §8.2 with sets.
TEST(Detection, IsTheUnionOfDifferences) {
  const auto scores = random_scores(3, 98);
  std::size_t num_dropped = 0;
  for (const double threshold : published_thresholds()) {
    std::set<std::size_t> intersectional;
    for (const auto& comparison : scores.against) {
      intersectional.merge(above(comparison, threshold));
    }
    std::set<std::size_t> emergent;
    for (const auto& comparison : scores.single_axis) {
      const auto explained = above(comparison, threshold);
      for (const auto word : intersectional) {
        if (!explained.contains(word)) {
          emergent.insert(word);
        }
      }
    }
    const auto found = detect(scores, DetectionKind::intersectional, threshold);
    const auto found_emergent = detect(scores, DetectionKind::emergent, threshold);
    ASSERT_EQ(found, std::vector(intersectional.begin(), intersectional.end()));
    ASSERT_EQ(found_emergent, std::vector(emergent.begin(), emergent.end()));
    num_dropped += intersectional.size() - emergent.size();
  }
  EXPECT_GT(num_dropped, 100U);
}

TEST(Detection, CountsAgainstValidatedWords) {
  DetectionScores scores{4, {{0.5, -0.2, 1.5, 0.1}, {0.0, 0.7, -1, 0.1}}, {{2, 2, 0, 0}}};
  const std::vector<std::uint8_t> validated = {1, 0, 1, 0};
  const std::vector<double> thresholds = {-3, 0.1, 0.6, 3};
  const auto curve = detection_curve(scores, DetectionKind::intersectional, validated, thresholds);
  ASSERT_EQ(curve.reason, Reason::ok);
  EXPECT_EQ(curve.chance, 0.5);
  EXPECT_EQ(curve.points[0].accuracy, 0.5);  // all detected
  EXPECT_EQ(curve.points[1].true_positives, 2U);
  EXPECT_EQ(curve.points[1].false_positives, 1U);  // 0.7; 0.1 is not above 0.1
  EXPECT_EQ(curve.points[1].accuracy, 0.75);
  EXPECT_EQ(curve.points[2].true_positive_rate, 0.5);
  EXPECT_EQ(curve.points[2].false_positive_rate, 0.5);
  EXPECT_EQ(curve.points[3].accuracy, 0.5);  // none detected
  EXPECT_EQ(curve.most_accurate, 1U);
  EXPECT_EQ(curve.most_separating, 1U);
  const auto emergent = detection_curve(scores, DetectionKind::emergent, validated, thresholds);
  EXPECT_EQ(emergent.points[0].true_positives, 0U);  // all are explained by the single axis
  EXPECT_EQ(emergent.points[1].true_positives, 1U);
  EXPECT_EQ(emergent.points[1].accuracy, 0.75);
}

TEST(Detection, AreaIsTheShareOfOrderedPairs) {
  const auto scores = random_scores(9, 60);
  std::vector<std::uint8_t> validated(60, 0);
  for (std::size_t word = 0; word < 60; word += 4) {
    validated[word] = 1;
  }
  double larger = 0;
  for (std::size_t word = 0; word < 60; ++word) {
    for (std::size_t other = 0; other < 60; ++other) {
      if (validated[word] == 1 && validated[other] == 0) {
        double left = -9;
        double right = -9;
        for (const auto& comparison : scores.against) {
          left = std::max(left, comparison[word]);
          right = std::max(right, comparison[other]);
        }
        larger += left > right ? 1 : left == right ? 0.5 : 0;
      }
    }
  }
  const auto area = [&](DetectionKind kind) { return detection_curve(scores, kind, validated, {{0.0}}).area; };
  EXPECT_NEAR(area(DetectionKind::intersectional), larger / (15 * 45), 1e-14);
  EXPECT_TRUE(std::isnan(area(DetectionKind::emergent)));
}

TEST(Detection, SaysWhyThereIsNone) {
  const auto scores = random_scores(1, 5);
  const std::vector<std::uint8_t> none(5, 0);
  EXPECT_EQ(detection_curve(scores, DetectionKind::emergent, none, published_thresholds()).reason, Reason::no_values);
  EXPECT_TRUE(std::isnan(detection_curve(scores, DetectionKind::intersectional, none, published_thresholds()).area));
  ASSERT_EQ(published_thresholds().size(), 81U);
  EXPECT_EQ(published_thresholds().at(41), 0.05);
}

}  // namespace
}  // namespace stereosweep::stats
