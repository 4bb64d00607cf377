// Contrasts with a second difference that is taken from the first.
#include <gtest/gtest.h>

#include <cmath>

#include "base/Error.hpp"
#include "findings/RandomScores.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {
namespace {

using Against = sweep::Contrast::Against;

sweep::Comparison asking(sweep::Contrast contrast) {
  sweep::Comparison comparison;
  comparison.contrasts = {std::move(contrast)};
  comparison.replicates = 100;
  comparison.draws = 100;
  return comparison;
}

/// Mean of the subjects' and replicates' scores in one sentence; NaN: none.
double cell_of(RandomScores& random, std::size_t subject, std::size_t sentence, std::size_t rephrasing,
               std::size_t item) {
  double sum = 0;
  double count = 0;
  for (std::size_t replicate = 0; replicate < random.table.length(4); ++replicate) {
    const double score = random.at({0, subject, sentence, rephrasing, replicate, item});
    sum += std::isnan(score) ? 0 : score;
    count += std::isnan(score) ? 0 : 1;
  }
  return count > 0 ? sum / count : stats::nan;
}

TEST(Interactions, are_differences_of_differences_cell_by_cell) {
  const sweep::Contrast contrast{
      .name = "x",
      .left = {{"subject", {"subject0"}}},
      .right = {{"subject", {"subject1"}}},
      .cells = sweep::Contrast::Cells::all,
      .minus = {
          {.left = {{"subject", {"subject2"}}}, .right = {{"subject", {"subject3"}}}, .against = Against::selected}}};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomScores random({1, 4, 2 + seed % 5, 1 + seed % 3, 1 + seed % 2, 2});
    random.fill(seed, seed % 2 == 0 ? 0 : 0.1);
    const auto rows = compare(random.scores(), asking(contrast), 3);
    ASSERT_EQ(rows.size(), 2U);
    for (std::size_t item = 0; item < 2; ++item) {
      double sum = 0;
      double first = 0;
      std::int32_t num_cells = 0;
      std::vector<double> blocks;
      for (std::size_t sentence = 0; sentence < random.table.length(2); ++sentence) {
        double block = 0;
        int present = 0;
        for (std::size_t rephrasing = 0; rephrasing < random.table.length(3); ++rephrasing) {
          const auto cell = [&](std::size_t subject) { return cell_of(random, subject, sentence, rephrasing, item); };
          const double difference = (cell(0) - cell(1)) - (cell(2) - cell(3));
          if (!std::isnan(difference)) {
            first += cell(0) - cell(1);
            block += difference;
            ++present;
          }
        }
        num_cells += present;
        sum += block;
        if (present > 0) {
          blocks.push_back(block);
        }
      }
      EXPECT_EQ(rows[item].num_cells, num_cells);
      EXPECT_EQ(rows[item].num_templates, static_cast<std::int32_t>(blocks.size()));
      if (num_cells > 0) {
        EXPECT_NEAR(rows[item].difference, sum / num_cells, 1e-11);
        EXPECT_NEAR(rows[item].left, first / num_cells, 1e-11);
        EXPECT_NEAR(rows[item].right, (first - sum) / num_cells, 1e-11);
      }
      EXPECT_TRUE(std::isnan(rows[item].over_subjects.p));
      if (blocks.size() > 1) {
        EXPECT_EQ(rows[item].flip.two_sided, stats::sign_flip_test(blocks, {.seed = 3, .draws = 100}).two_sided);
      }
    }
  }
}

/// Sentences of two occupations' pairs: female pro, male anti, female anti, male pro.
struct Sentences {
  RandomScores random{{1, 3, 12, 2, 1, 1}};
  Sentences() {
    auto& axis = random.table.axes[template_axis];
    axis.coordinates = {{"gender", "", {}}, {"stereotype", "", {}}, {"pair", "", {}}, {"occupations", "", {}}};
    for (std::size_t sentence = 0; sentence < 12; ++sentence) {
      axis.coordinates[0].values.emplace_back(sentence % 2 == 0 ? "female" : "male");
      axis.coordinates[1].values.emplace_back(sentence % 4 == 0 || sentence % 4 == 3 ? "pro" : "anti");
      axis.coordinates[2].values.push_back(std::to_string(sentence / 2));
      axis.coordinates[3].values.push_back(sentence == 11 ? "alone" : std::to_string(sentence / 4));
    }
    random.table.axes[subject_axis].coordinates = {{"kind", "", {"baseline", "group", "group"}}};
    for (std::size_t place = 0; place < random.table.values.size(); ++place) {
      random.table.values[place] = base::random_unit(9, 1, place);
    }
  }
  double mean(std::size_t subject, std::size_t sentence) {
    return (random.at({0, subject, sentence, 0, 0, 0}) + random.at({0, subject, sentence, 1, 0, 0})) / 2;
  }
};

TEST(Interactions, need_all_four_sides_in_a_pair) {
  Sentences sentences;
  const auto side = [](const char* gender, const char* stereotype) {
    return std::vector<sweep::Selection>{
        {"template.gender", {gender}}, {"template.stereotype", {stereotype}}, {"subject", {"subject1"}}};
  };
  sweep::Contrast contrast{
      .name = "x",
      .left = side("female", "pro"),
      .right = side("male", "pro"),
      .paired = "template.occupations",
      .minus = {{.left = side("female", "anti"), .right = side("male", "anti"), .against = Against::selected}}};
  const auto rows = compare(sentences.random.scores(), asking(contrast), 3);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].num_templates, 2);  // the third pair of occupations has no man in a pro sentence
  double sum = 0;
  for (const std::size_t first : {0U, 4U}) {
    sum += sentences.mean(1, first) - sentences.mean(1, first + 3) -
           (sentences.mean(1, first + 2) - sentences.mean(1, first + 1));
  }
  EXPECT_NEAR(rows[0].difference, sum / 2, 1e-14);
  contrast.paired = "template.pair";  // no pair has all four
  EXPECT_EQ(compare(sentences.random.scores(), asking(contrast), 3)[0].num_templates, 0);
  contrast.paired = "";
  EXPECT_THROW(compare(sentences.random.scores(), asking(contrast), 3), base::InputError);
}

TEST(Interactions, each_leaves_what_selects_on_its_axis) {
  Sentences sentences;
  const sweep::Contrast contrast{.name = "x",
                                 .left = {{"subject.kind", {"group"}}},
                                 .against = Against::zero,
                                 .each = "subject",
                                 .minus = {{.left = {{"subject.kind", {"baseline"}}}}}};
  const auto rows = compare(sentences.random.scores(), asking(contrast), 3);
  ASSERT_EQ(rows.size(), 2U);  // the baseline is no group: no row
  EXPECT_EQ(rows[0].contrast, "x: subject1");
  double sum = 0;
  for (std::size_t sentence = 0; sentence < 12; ++sentence) {
    sum += sentences.mean(1, sentence) - sentences.mean(0, sentence);
  }
  EXPECT_NEAR(rows[0].difference, sum / 12, 1e-14);
  const sweep::Contrast narrowed{.name = "y",
                                 .left = {{"subject", {"subject1"}}},
                                 .against = Against::zero,
                                 .each = "template.gender",
                                 .minus = {{.left = {{"subject", {"subject0"}}}}}};
  const auto by_gender = compare(sentences.random.scores(), asking(narrowed), 3);
  ASSERT_EQ(by_gender.size(), 2U);
  EXPECT_EQ(by_gender[0].num_templates, 6);
}

}  // namespace
}  // namespace stereosweep::findings
