// How often contrasts of tables without a difference have a small p where subjects lack whole templates.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "findings/RandomScores.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

using sweep::Contrast;

constexpr std::size_t num_templates = 24;
constexpr double most_alarms = 0.065;  // of 1,000 tables: 5 % and two standard errors

/// [subject, template]
using Lacks = std::vector<bool>;

/// Share of the tables (subject x template x 3 rephrasings; effects of templates, of subjects in templates, and a rest)
/// with p <= 0.05. `fill(lacks, random)` says anew what is missing.
template <class Fill>
double alarms_of(const Contrast& contrast, std::size_t num_subjects, const Fill& fill) {
  constexpr int num_tables = 1000;
  RandomScores table({1, num_subjects, num_templates, 3, 1, 1});
  auto& coordinates = table.table.axes[template_axis].coordinates;
  coordinates = {{"stereotype", "", {}}, {"pair", "", {}}};
  for (std::size_t place = 0; place < num_templates; ++place) {
    coordinates[0].values.emplace_back(place % 2 == 0 ? "pro" : "anti");
    coordinates[1].values.push_back(std::to_string(place / 2));
  }
  std::mt19937_64 random(20261128);
  std::normal_distribution<double> normal;
  const sweep::Comparison comparison{.contrasts = {contrast}, .draws = 10};
  int small = 0;
  for (int set = 0; set < num_tables; ++set) {
    Lacks lacks(num_subjects * num_templates, false);
    fill(lacks, random);
    std::vector<double> templates(num_templates);
    std::ranges::generate(templates, [&] { return normal(random); });
    for (std::size_t place = 0; place < lacks.size(); ++place) {
      const double mean = templates[place % num_templates] + normal(random);
      for (std::size_t r = 0; r < 3; ++r) {
        table.at({0, place / num_templates, place % num_templates, r, 0, 0}) =
            lacks[place] ? stats::nan : mean + 0.3 * normal(random);
      }
    }
    small += compare(table.scores(), comparison, 1).front().p <= 0.05 ? 1 : 0;
  }
  return 1.0 * small / num_tables;
}

/// All subjects but the first.
void lack_the_last_two_thirds(Lacks& lacks, std::mt19937_64&) {
  for (std::size_t place = num_templates; place < lacks.size(); ++place) {
    lacks[place] = place % num_templates >= num_templates / 3;
  }
}

/// Each subject has so many of the first twelve.
auto have_of_twelve(std::size_t count) {
  return [count](Lacks& lacks, std::mt19937_64& random) {
    lacks.assign(lacks.size(), true);
    std::vector<std::size_t> templates(12);
    std::iota(templates.begin(), templates.end(), std::size_t{0});
    for (std::size_t first = 0; first < lacks.size(); first += num_templates) {
      std::ranges::shuffle(templates, random);
      for (std::size_t place = 0; place < count; ++place) {
        lacks[first + templates[place]] = false;
      }
    }
  };
}

TEST(ContrastLevels, HoldWhereTwoOfThreeSubjectsLackMostTemplates) {
  const Contrast paired{.name = "paired",
                        .left = {{"template.stereotype", {"pro"}}},
                        .right = {{"template.stereotype", {"anti"}}},
                        .paired = "template.pair"};
  EXPECT_LT(alarms_of(paired, 3, lack_the_last_two_thirds), most_alarms);
  const Contrast one{.name = "one", .left = {{"subject", {"subject0"}}}, .against = Contrast::Against::rest};
  EXPECT_LT(alarms_of(one, 3, lack_the_last_two_thirds), most_alarms);
}

TEST(ContrastLevels, HoldWhereEachSubjectHasTemplatesOfItsOwn) {
  const Contrast halves{.name = "halves",
                        .left = {{"subject", {"subject0", "subject1", "subject2"}}},
                        .right = {{"subject", {"subject3", "subject4", "subject5"}}}};
  EXPECT_LT(alarms_of(halves, 6, have_of_twelve(4)), most_alarms);
  EXPECT_LT(alarms_of(halves, 6, have_of_twelve(3)), most_alarms);
}

}  // namespace
}  // namespace stereosweep::findings
