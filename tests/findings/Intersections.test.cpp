#include "findings/intersections/Intersections.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/Error.hpp"
#include "findings/RandomScores.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t crossed_templates = 5;
constexpr std::size_t crossed_rephrasings = 2;
constexpr std::size_t crossed_items = 4;

/// Two domains of two and three groups, all crossed in both orders but one.
RandomScores crossed_groups(std::uint64_t seed, std::size_t num_templates = crossed_templates,
                            std::size_t num_rephrasings = crossed_rephrasings) {
  const std::vector<std::string> colours = {"red", "blue"};
  const std::vector<std::string> sizes = {"tall", "small", "wide"};
  std::vector<std::array<std::string, 4>> subjects;  // kind, domain, first, second
  for (const auto& colour : colours) {
    subjects.push_back({"group", "colour", colour, ""});
  }
  for (const auto& size : sizes) {
    subjects.push_back({"group", "size", size, ""});
  }
  for (const auto& colour : colours) {
    for (const auto& size : sizes) {
      subjects.push_back({"intersection", "colour x size", colour, size});
      if (size != "wide" || colour != "red") {
        subjects.push_back({"intersection", "size x colour", size, colour});
      }
    }
  }
  RandomScores random({1, subjects.size(), num_templates, num_rephrasings, 2, crossed_items});
  auto& axis = random.table.axes[subject_axis];
  axis.coordinates = {{"kind", "", {}}, {"domain", "", {}}, {"first", "", {}}, {"second", "", {}}};
  for (std::size_t place = 0; place < subjects.size(); ++place) {
    const auto& subject = subjects[place];
    axis.labels[place] = subject[3].empty() ? subject[2] : subject[2] + " x " + subject[3];
    for (std::size_t i = 0; i < subject.size(); ++i) {
      axis.coordinates[i].values.push_back(subject[i]);
    }
  }
  const std::vector<double> shares = {0, 0, 0.02, 0.2, 0.7, 1};
  random.fill(seed, shares[seed % shares.size()]);
  return random;
}

sweep::Comparison crossed_questions() {
  sweep::Comparison comparison;
  comparison.intersections.emplace();
  comparison.replicates = 100;
  comparison.draws = 100;
  return comparison;
}

std::size_t subject_of(const RandomScores& random, const std::string& label) {
  const auto& labels = random.table.axes[subject_axis].labels;
  const auto found = std::ranges::find(labels, label);
  EXPECT_NE(found, labels.end()) << label;
  return static_cast<std::size_t>(found - labels.begin());
}

/// The mean over replicates; NaN: none.
double plain_cell(RandomScores& random, std::size_t subject, std::size_t sentence, std::size_t wording,
                  std::size_t item) {
  double sum = 0;
  int count = 0;
  for (std::size_t replicate = 0; replicate < 2; ++replicate) {
    const double value = random.at({0, subject, sentence, wording, replicate, item});
    if (!std::isnan(value)) {
      sum += value;
      ++count;
    }
  }
  return sum / count;
}

/// What differs between an intersection and its parts, [template][rephrasing of common cells].
struct PlainRow {
  std::vector<std::vector<double>> score = {};
  std::vector<std::vector<double>> first = {};
  std::vector<std::vector<double>> second = {};

  static double mean(const std::vector<std::vector<double>>& cells) {
    double sum = 0;
    int count = 0;
    for (const auto& row : cells) {
      for (const double value : row) {
        sum += value;
        ++count;
      }
    }
    return sum / count;
  }
  /// Templates that have cells.
  std::size_t num_templates() const {
    return score.size() - static_cast<std::size_t>(std::ranges::count(score, 0U, &std::vector<double>::size));
  }
};

PlainRow plain_row(RandomScores& random, const std::string& first, const std::string& second, std::size_t item) {
  const auto subject = subject_of(random, first + " x " + second);
  PlainRow row;
  for (std::size_t sentence = 0; sentence < crossed_templates; ++sentence) {
    row.score.emplace_back();
    row.first.emplace_back();
    row.second.emplace_back();
    for (std::size_t wording = 0; wording < crossed_rephrasings; ++wording) {
      const double both = plain_cell(random, subject, sentence, wording, item);
      const double one = plain_cell(random, subject_of(random, first), sentence, wording, item);
      const double other = plain_cell(random, subject_of(random, second), sentence, wording, item);
      if (!std::isnan(both + one + other)) {
        row.score.back().push_back(both);
        row.first.back().push_back(one);
        row.second.back().push_back(other);
      }
    }
  }
  return row;
}

void expect_number(double ours, double plain, const std::string& where) {
  EXPECT_EQ(std::isnan(ours), std::isnan(plain)) << where;
  if (!std::isnan(plain)) {
    EXPECT_NEAR(ours, plain, 1e-12 * std::max(1.0, std::abs(plain))) << where;
  }
}

TEST(Intersections, EmergenceAndInteractionAreTheirDefinitions) {
  int num_tested = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto random = crossed_groups(seed);
    const auto all = intersections_of(random.scores(), crossed_questions());
    ASSERT_EQ(all.parts.intersections.size(), 11u);
    for (std::size_t place = 0; place < all.parts.intersections.size(); ++place) {
      const auto& coordinates = random.table.axes[subject_axis].coordinates;
      const auto subject = all.parts.intersections[place].subject;
      for (std::size_t item = 0; item < crossed_items; ++item) {
        const auto plain = plain_row(random, coordinates[2].values[subject], coordinates[3].values[subject], item);
        const auto& row = all.of_measures[0].items[place * crossed_items + item];
        const auto where = std::to_string(seed) + " " + random.table.axes[subject_axis].labels[subject];
        const double score = PlainRow::mean(plain.score);
        const double first = PlainRow::mean(plain.first);
        const double second = PlainRow::mean(plain.second);
        expect_number(row.score, score, where);
        expect_number(row.emerge_max, score - std::max(first, second), where);
        expect_number(row.emerge_min, score - std::min(first, second), where);
        expect_number(row.interaction, score - first - second, where);
        EXPECT_EQ(row.num_templates, plain.num_templates()) << where;
        if (plain.num_templates() < 2) {
          EXPECT_EQ(row.beyond.reason, plain.num_templates() == 0 ? stats::Reason::no_values : stats::Reason::too_few)
              << where;
          EXPECT_TRUE(std::isnan(row.beyond.p) && std::isnan(row.interaction_test.p) && std::isnan(row.p_holm))
              << where;
          continue;
        }
        ++num_tested;
        EXPECT_FALSE(row.p_holm < row.beyond.p || row.interaction_p_holm < row.interaction_test.p) << where;
        EXPECT_EQ(row.side() == 0, row.beyond.p == 1) << where;
        const bool is_beyond = row.interaction_test.low > 0 || row.interaction_test.high < 0;
        EXPECT_EQ(is_beyond, row.interaction_test.p < 0.05) << where;
      }
    }
  }
  EXPECT_GT(num_tested, 20'000);
}

/// Both are of the cells that all subjects of a row have.
TEST(Intersections, NumbersAreThoseOfContrastsOfTheSameSubjects) {
  int num_tested = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto random = crossed_groups(seed, 3 + seed % 6, 1 + seed % 4);
    auto comparison = crossed_questions();
    const auto select = [](const char* subject) { return std::vector<sweep::Selection>{{"subject", {subject}}}; };
    comparison.contrasts = {
        {.name = "first", .left = select("red x tall"), .right = select("red")},
        {.name = "second", .left = select("red x tall"), .right = select("tall")},
        {.name = "both", .left = select("red x tall"), .right = select("red"), .minus = {{.left = select("tall")}}}};
    for (auto& contrast : comparison.contrasts) {
      contrast.against = sweep::Contrast::Against::selected;
    }
    const auto contrasts = compare(random.scores(), comparison, 1);
    const auto rows = intersections_of(random.scores(), comparison).of_measures[0].items;
    for (std::size_t item = 0; item < crossed_items; ++item) {
      const auto& row = rows[item];
      const auto& both = contrasts[2 * crossed_items + item];
      const auto where = std::to_string(seed) + " " + std::to_string(item);
      EXPECT_EQ(row.interaction_test.reason, both.reason) << where;
      expect_number(row.interaction, both.difference, where);
      for (const auto& [ours, theirs] : {std::pair(row.interaction_test.p, both.p),
                                         {row.interaction_test.low, both.low},
                                         {row.interaction_test.high, both.high},
                                         {row.interaction_test.degrees, both.degrees}}) {
        ASSERT_EQ(std::isnan(ours), std::isnan(theirs)) << where;
        EXPECT_TRUE(std::isnan(ours) || std::abs(ours - theirs) <= 1e-9 * std::max(1.0, std::abs(theirs))) << where;
      }
      const auto& first = contrasts[item];
      const auto& second = contrasts[crossed_items + item];
      if (first.num_cells == row.num_cells && second.num_cells == row.num_cells &&
          row.beyond.reason == stats::Reason::ok) {
        const double larger = std::max(first.p, second.p);
        EXPECT_NEAR(row.beyond.p, row.side() == 0 ? 1 : larger, 1e-9) << where;
        ++num_tested;
      }
    }
  }
  EXPECT_GT(num_tested, 150);
}

/// Noise and effects of templates and rephrasings of each subject, in the tables of `make(templates, rephrasings)`. All
/// rows of a table are a family.
void expect_few_false_findings(auto make) {
  constexpr int num_tables = 400;
  std::array<int, 2> num_rows = {0, 0};  // the first row of each table: emergence, interaction
  std::array<int, 2> num_families = {0, 0};
  for (std::uint64_t seed = 0; seed < num_tables; ++seed) {
    constexpr std::size_t num_templates = 8;
    constexpr std::size_t num_rephrasings = 6;
    auto random = make(num_templates, num_rephrasings);
    const auto normal = [&](std::uint64_t stream, std::uint64_t place) {
      double sum = -6;
      for (std::uint64_t draw = 0; draw < 12; ++draw) {
        sum += base::random_unit(seed, 12 * stream + draw, place);
      }
      return sum;
    };
    for (std::size_t subject = 0; subject < random.table.length(subject_axis); ++subject) {
      for (std::size_t item = 0; item < crossed_items; ++item) {
        const auto own = (subject * crossed_items + item) * 1000;
        for (std::size_t sentence = 0; sentence < num_templates; ++sentence) {
          for (std::size_t wording = 0; wording < num_rephrasings; ++wording) {
            const auto cell = sentence * num_rephrasings + wording;
            const double score = normal(1, own + sentence) + normal(2, own + wording) + normal(3, own + cell);
            const bool is_missing = base::random_unit(seed, 99, own + cell) < (seed % 2 == 0 ? 0 : 0.1);
            random.at({0, subject, sentence, wording, 0, item}) = is_missing ? stats::nan : score;
            random.at({0, subject, sentence, wording, 1, item}) = stats::nan;
          }
        }
      }
    }
    const auto rows = intersections_of(random.scores(), crossed_questions()).of_measures[0].items;
    num_rows[0] += rows[0].beyond.p <= 0.05 ? 1 : 0;
    num_rows[1] += rows[0].interaction_test.p <= 0.05 ? 1 : 0;
    num_families[0] += std::ranges::any_of(rows, [](const auto& row) { return row.p_holm <= 0.05; });
    num_families[1] += std::ranges::any_of(rows, [](const auto& row) { return row.interaction_p_holm <= 0.05; });
  }
  EXPECT_LE(num_rows[0], 0.05 * num_tables);  // all parts' tests of a row must reach the level
  EXPECT_GE(num_rows[1], 0.02 * num_tables);
  EXPECT_LE(num_rows[1], 0.08 * num_tables);
  EXPECT_LE(num_families[0], 0.05 * num_tables);
  EXPECT_LE(num_families[1], 0.08 * num_tables);
}

double plain_tau(RandomScores& random, const std::string& left, const std::string& right) {
  std::vector<double> on_left;
  std::vector<double> on_right;
  for (std::size_t item = 0; item < crossed_items; ++item) {
    std::vector<double> left_cells;
    std::vector<double> right_cells;
    for (std::size_t cell = 0; cell < crossed_templates * crossed_rephrasings; ++cell) {
      const double one = plain_cell(random, subject_of(random, left), cell / 2, cell % 2, item);
      const double other = plain_cell(random, subject_of(random, right), cell / 2, cell % 2, item);
      if (!std::isnan(one + other)) {
        left_cells.push_back(one);
        right_cells.push_back(other);
      }
    }
    if (!left_cells.empty()) {
      on_left.push_back(stats::mean(left_cells).value);
      on_right.push_back(stats::mean(right_cells).value);
    }
  }
  return stats::kendall_tau_b(on_left, on_right).value;
}

TEST(Intersections, OrderAndDominanceAreMeansOfTau) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto random = crossed_groups(seed);
    const auto all = intersections_of(random.scores(), crossed_questions());
    const auto& order = all.of_measures[0].order;
    std::vector<double> colours;
    std::vector<double> sizes;
    for (std::size_t place = 0; place < all.parts.intersections.size(); ++place) {
      const auto* taus = &order.taus[4 * place];  // other order, first part, second part, nearer part
      const auto subject = all.parts.intersections[place].subject;
      const auto& coordinates = random.table.axes[subject_axis].coordinates;
      const auto& first = coordinates[2].values[subject];
      const auto& second = coordinates[3].values[subject];
      const auto label = first + " x " + second;
      const bool has_other = label != "red x wide";
      EXPECT_EQ(all.parts.intersections[place].reversed.has_value(), has_other);
      expect_number(taus[0].value, has_other ? plain_tau(random, label, second + " x " + first) : stats::nan, label);
      const double to_first = plain_tau(random, label, first);
      const double to_second = plain_tau(random, label, second);
      expect_number(taus[1].value, to_first, label);
      expect_number(taus[2].value, to_second, label);
      expect_number(taus[3].value, std::isnan(to_second) ? to_second : std::max(to_first, to_second), label);
      if (!std::isnan(to_first + to_second)) {
        const bool is_colour = coordinates[1].values[subject] == "colour x size";
        colours.push_back(is_colour ? to_first : to_second);
        sizes.push_back(is_colour ? to_second : to_first);
      }
    }
    if (colours.empty()) {
      EXPECT_TRUE(all.of_measures[0].dominance.empty());
      continue;
    }
    ASSERT_EQ(all.of_measures[0].dominance.size(), 1u);
    const auto& row = all.of_measures[0].dominance[0];
    EXPECT_EQ(row.first + row.second, "coloursize");
    EXPECT_EQ(row.num_intersections, static_cast<std::int32_t>(colours.size()));
    expect_number(row.tau_first, stats::mean(colours).value, "colours");
    expect_number(row.difference, stats::mean(colours).value - stats::mean(sizes).value, "difference");
    const auto expected = row.difference >= 0.1    ? Dominant::first
                          : row.difference <= -0.1 ? Dominant::second
                                                   : Dominant::neither;
    EXPECT_EQ(row.rule, expected) << row.difference;
  }
}

/// Three domains of two groups, each three of them crossed in two orders, and one pair; `has_baseline`: named by
/// nobody.
RandomScores three_crossed(std::uint64_t seed, bool has_baseline, std::size_t num_templates = crossed_templates,
                           std::size_t num_rephrasings = crossed_rephrasings) {
  const std::vector<std::vector<std::string>> subjects = {{"group", "colour", "red", "", ""},
                                                          {"group", "colour", "blue", "", ""},
                                                          {"group", "size", "tall", "", ""},
                                                          {"group", "size", "small", "", ""},
                                                          {"group", "shape", "round", "", ""},
                                                          {"intersection", "", "red", "tall", "round"},
                                                          {"intersection", "", "round", "tall", "red"},
                                                          {"intersection", "", "blue", "tall", "round"},
                                                          {"intersection", "", "blue", "small", ""},
                                                          {has_baseline ? "baseline" : "group", "", "", "", ""}};
  RandomScores random({1, subjects.size(), num_templates, num_rephrasings, 2, crossed_items});
  auto& axis = random.table.axes[subject_axis];
  axis.coordinates = {{"kind", "", {}}, {"domain", "", {}}, {"first", "", {}}, {"second", "", {}}, {"third", "", {}}};
  for (std::size_t place = 0; place < subjects.size(); ++place) {
    axis.labels[place] = "subject " + std::to_string(place);
    for (std::size_t i = 0; i < subjects[place].size(); ++i) {
      axis.coordinates[i].values.push_back(subjects[place][i]);
    }
  }
  random.fill(seed, seed % 3 == 0 ? 0.1 : 0);
  return random;
}

TEST(Intersections, ThreeGroupsAreComparedWithEachAndWithTheirSum) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const bool has_baseline = seed % 2 == 0;
    auto random = three_crossed(seed, has_baseline);
    const auto all = intersections_of(random.scores(), crossed_questions());
    ASSERT_EQ(all.parts.intersections.size(), 4u);
    EXPECT_THAT(all.parts.intersections[0].parts, ::testing::ElementsAre(0u, 2u, 4u));
    EXPECT_EQ(all.parts.intersections[0].reversed, 6u);
    EXPECT_FALSE(all.parts.intersections[2].reversed);
    EXPECT_THAT(all.parts.intersections[3].parts, ::testing::ElementsAre(1u, 3u));
    for (std::size_t place = 0; place < 4; ++place) {
      const auto& parts = all.parts.intersections[place].parts;
      for (std::size_t item = 0; item < crossed_items; ++item) {
        double score = 0;
        std::vector<double> of_parts(parts.size(), 0);
        double baseline = 0;
        int num_cells = 0;
        for (std::size_t sentence = 0; sentence < crossed_templates; ++sentence) {
          for (std::size_t wording = 0; wording < crossed_rephrasings; ++wording) {
            const auto at = [&](std::size_t subject) { return plain_cell(random, subject, sentence, wording, item); };
            double sum = at(5 + place) + (has_baseline ? at(9) : 0);
            for (const auto& part : parts) {
              sum += at(*part);
            }
            if (!std::isnan(sum)) {
              ++num_cells;
              score += at(5 + place);
              baseline += has_baseline ? at(9) : 0;
              for (std::size_t part = 0; part < parts.size(); ++part) {
                of_parts[part] += at(*parts[part]);
              }
            }
          }
        }
        const auto& row = all.of_measures[0].items[place * crossed_items + item];
        const std::string where = std::to_string(place) + ", " + std::to_string(item);
        ASSERT_EQ(row.num_cells, num_cells) << where;
        expect_number(row.emerge_max, (score - std::ranges::max(of_parts)) / num_cells, where);
        expect_number(row.emerge_min, (score - std::ranges::min(of_parts)) / num_cells, where);
        const double sum = std::accumulate(of_parts.begin(), of_parts.end(), 0.0);
        const auto num_added = static_cast<double>(parts.size() - 1);
        expect_number(row.interaction, (score - sum + num_added * baseline) / num_cells, where);
        expect_number(row.parts[parts.size() - 1], of_parts.back() / num_cells, where);
        EXPECT_EQ(std::isnan(row.parts[2]), parts.size() == 2) << where;
      }
    }
  }
}

TEST(Intersections, ThePOfThreeGroupsIsTheLargestOfTheirContrasts) {
  auto random = three_crossed(1, false);
  auto comparison = crossed_questions();
  const auto select = [](const char* subject) { return std::vector<sweep::Selection>{{"subject", {subject}}}; };
  for (const auto* part : {"subject 0", "subject 2", "subject 4"}) {
    comparison.contrasts.push_back({.name = part, .left = select("subject 5"), .right = select(part)});
    comparison.contrasts.back().against = sweep::Contrast::Against::selected;
  }
  const auto contrasts = compare(random.scores(), comparison, 1);
  const auto all = intersections_of(random.scores(), comparison);
  std::size_t num_beyond = 0;
  for (std::size_t item = 0; item < crossed_items; ++item) {
    const auto& row = all.of_measures[0].items[item];
    double largest = 0;
    for (std::size_t part = 0; part < 3; ++part) {
      largest = std::max(largest, contrasts[part * crossed_items + item].p);
    }
    expect_number(row.beyond.p, row.side() == 0 ? 1 : largest, std::to_string(item));
    num_beyond += row.side() == 0 ? 0 : 1;
  }
  EXPECT_GT(num_beyond, 0u);
}

TEST(Intersections, AllPairsOfDomainsOfThreeGroupsAreCompared) {
  auto random = three_crossed(2, false);
  const auto all = intersections_of(random.scores(), crossed_questions());
  const auto& of_measure = all.of_measures[0];
  ASSERT_EQ(of_measure.dominance.size(), 3u);
  EXPECT_EQ(of_measure.dominance[0].first + " " + of_measure.dominance[0].second, "colour size");
  EXPECT_EQ(of_measure.dominance[0].num_intersections, 4);  // three of three groups, and the pair
  EXPECT_EQ(of_measure.dominance[1].first + " " + of_measure.dominance[1].second, "colour shape");
  EXPECT_EQ(of_measure.dominance[1].num_intersections, 3);
  const auto tau = [&](std::size_t place, std::size_t comparison) {
    return of_measure.order.taus[5 * place + comparison].value;
  };
  expect_number(of_measure.dominance[1].difference,
                ((tau(0, 1) - tau(0, 3)) + (tau(1, 3) - tau(1, 1)) + (tau(2, 1) - tau(2, 3))) / 3, "colour shape");
  expect_number(tau(0, 4), std::max({tau(0, 1), tau(0, 2), tau(0, 3)}), "nearest part");
  EXPECT_TRUE(std::isnan(tau(3, 3)));  // a pair has no third part
}

TEST(Intersections, FalseFindingsAreAsRareAsTheLevelSays) {
  expect_few_false_findings([](std::size_t num_templates, std::size_t num_rephrasings) {
    return crossed_groups(0, num_templates, num_rephrasings);
  });
}

TEST(Intersections, FalseFindingsOfThreeGroupsAreAsRare) {
  for (const bool has_baseline : {false, true}) {
    expect_few_false_findings([&](std::size_t num_templates, std::size_t num_rephrasings) {
      return three_crossed(1, has_baseline, num_templates, num_rephrasings);
    });
  }
}

/// Order with given taus, for the two parts of each intersection.
Order order_with(const IntersectionParts& parts, double colour, double size) {
  Order order;
  for (const auto& intersection : parts.intersections) {
    const bool is_colour = parts.domains[*intersection.parts[0]] == "colour";
    const stats::Correlation first{is_colour ? colour : size, 1, 4, stats::Reason::ok};
    const stats::Correlation second{is_colour ? size : colour, 1, 4, stats::Reason::ok};
    order.taus.insert(order.taus.end(), {{}, first, second, {}});
  }
  return order;
}

TEST(Intersections, DominanceCountsTheThresholdItself) {
  const auto random = crossed_groups(0);
  const auto parts = parts_of(random.table.axes[subject_axis]);
  const auto rule = [&](double colour, double size) {
    return dominance_of(order_with(parts, colour, size), parts, crossed_questions())[0];
  };
  EXPECT_LT(0.3 - 0.2, 0.1);  // in floating point
  EXPECT_EQ(rule(0.3, 0.2).rule, Dominant::first);
  EXPECT_EQ(rule(0.2, 0.3).rule, Dominant::second);
  EXPECT_EQ(rule(0.3, 0.2001).rule, Dominant::neither);
  const auto equal = rule(0.3, 0.25);  // everywhere: nothing says how far others differ
  EXPECT_EQ(equal.rule, Dominant::neither);
  EXPECT_EQ(equal.beyond, Dominant::unknown);
  EXPECT_EQ(equal.reason, stats::Reason::constant);
}

TEST(Intersections, DominanceIntervalIsTheCrossedTOverGroupsOfBothDomains) {
  auto random = crossed_groups(0);
  const auto comparison = crossed_questions();
  const auto all = intersections_of(random.scores(), comparison);
  const auto& order = all.of_measures[0].order;
  std::vector<double> sums(6, 0);
  std::vector<double> counts(6, 0);
  for (std::size_t place = 0; place < all.parts.intersections.size(); ++place) {
    const auto first = *all.parts.intersections[place].parts[0];
    const auto second = *all.parts.intersections[place].parts[1];
    const bool is_colour = first < 2;  // groups: two colours, then three sizes
    const double difference = order.taus[4 * place + 1].value - order.taus[4 * place + 2].value;
    const auto colour = is_colour ? first : second;
    const auto size = (is_colour ? second : first) - 2;
    sums[3 * colour + size] += is_colour ? difference : -difference;
    counts[3 * colour + size] += 1;
  }
  std::vector<double> cells;
  for (std::size_t place = 0; place < sums.size(); ++place) {
    cells.push_back(sums[place] / counts[place]);
  }
  const auto& row = all.of_measures[0].dominance[0];
  const auto test = stats::test_mean(row.difference, stats::crossed_squares(cells, 3).error(), 0.95);
  expect_number(row.low, std::max(test.low, -2.0), "low");
  expect_number(row.high, std::min(test.high, 2.0), "high");
}

TEST(Intersections, PartsAreFoundAmongSeveralSubjectsOfOneGroup) {
  const results::AxisSchema subjects{
      "subject",
      "",
      {"base", "one red", "two red", "one tall", "two tall", "two red tall", "red odd"},
      {{"kind", "", {"baseline", "group", "group", "group", "group", "intersection", "intersection"}},
       {"domain", "", {"", "colour", "colour", "size", "size", "colour x size", "colour x size"}},
       {"first", "", {"", "red", "red", "tall", "tall", "red", "red"}},
       {"second", "", {"", "", "", "", "", "tall", "odd"}},
       {"place", "", {"", "1", "2", "1", "2", "2", "2"}}}};
  const auto parts = parts_of(subjects);
  ASSERT_EQ(parts.intersections.size(), 2u);
  EXPECT_EQ(parts.baseline, 0u);
  EXPECT_THAT(parts.intersections[0].parts, ::testing::ElementsAre(2u, 4u));
  EXPECT_FALSE(parts.intersections[0].reversed);
  EXPECT_FALSE(parts.intersections[1].has_parts());
  auto others = subjects;
  others.coordinates.pop_back();  // nothing tells the two subjects of a group apart
  EXPECT_FALSE(parts_of(others).intersections[0].has_parts());
}

TEST(Intersections, ATableWithoutThemIsRefused) {
  auto random = RandomScores::of(1);
  EXPECT_THROW(intersections_of(random.scores(), crossed_questions()), base::InputError);
}

std::string text_of(const Intersections& all, const sweep::Comparison& comparison, std::size_t top) {
  std::string text;
  for (const auto& finding : findings_of(all, comparison)) {
    text += told_by(finding, top).text();
  }
  return text;
}

std::string known_table(const std::filesystem::path& directory, const std::string& rows) {
  const auto path = directory / "known.tsv";
  std::ofstream(path) << "intersection\titem\tdirection\n" << rows;
  return path.string();
}

TEST(Intersections, KnownStereotypesAreCountedInTheUniverseOfTheirNames) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto random = crossed_groups(0);
  auto comparison = crossed_questions();
  auto& questions = *comparison.intersections;
  questions.known = known_table(directory.path(),
                                "red x tall\titem0\thigher\nred x tall\titem0\tlower\nRed X Tall\titem1\tlower\n"
                                "blue x wide\titem3\tnone\n");
  for (const double emergence : {0.0, 0.3}) {
    for (const double level : {1.0, 0.3}) {
      questions.emergence = emergence;
      questions.level = level;
      const auto all = intersections_of(random.scores(), comparison);
      const auto& counts = all.of_measures[0].known_items;
      EXPECT_EQ(counts.num_universe, 2 * 3 * 2);
      EXPECT_EQ(counts.num_known, 3);
      EXPECT_DOUBLE_EQ(counts.prevalence(), 0.25);
      int predicted = 0;
      int hits = 0;
      const auto red_tall = std::size_t{0};
      const auto blue_wide = std::size_t{9};
      ASSERT_EQ(all.parts.intersections[blue_wide].subject, subject_of(random, "blue x wide"));
      for (const auto place : {red_tall, blue_wide}) {
        for (const std::size_t item : {0U, 1U, 3U}) {
          const auto& row = all.of_measures[0].items[place * crossed_items + item];
          const bool higher = row.emerge_max > emergence && (level == 1 || row.beyond.p <= level);
          const bool lower = row.emerge_min < -emergence && (level == 1 || row.beyond.p <= level);
          predicted += (higher ? 1 : 0) + (lower ? 1 : 0);
          hits += place == red_tall && ((item == 0 && (higher || lower)) || (item == 1 && lower)) ? 1 : 0;
        }
      }
      EXPECT_EQ(counts.num_predicted, predicted);
      EXPECT_EQ(counts.num_hits, hits);
      EXPECT_THAT(text_of(all, comparison, 3), HasSubstr("Known stereotypes that emerge"));
    }
  }
}

TEST(Intersections, EveryFaultOfTheKnownStereotypesIsNamed) {
  const stereosweep::testing::TemporaryDirectory directory;
  auto random = crossed_groups(0);
  auto comparison = crossed_questions();
  comparison.intersections->known =
      known_table(directory.path(),
                  "red x tal\titem0\thigher\nred x tall\titem9\thigher\nred x tall\titem0\tup\n"
                  "red x tall\titem0\tnone\nred x tall\titem0\thigher\n");
  try {
    intersections_of(random.scores(), comparison);
    FAIL() << "not refused";
  } catch (const base::InputError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, HasSubstr("known.tsv:2:intersection: no intersection 'red x tal'"));
    EXPECT_THAT(message, HasSubstr("known.tsv:3:item: no item or pole 'item9'"));
    EXPECT_THAT(message, HasSubstr("known.tsv:4:direction: 'up' is no direction"));
    EXPECT_THAT(message, HasSubstr("known.tsv:6:direction: 'red x tall', 'item0' stands there already"));
  }
  comparison.intersections->known = known_table(directory.path(), "");
  EXPECT_THROW(intersections_of(random.scores(), comparison), base::InputError);
  comparison.intersections->known = "/nowhere.tsv";
  EXPECT_THROW(intersections_of(random.scores(), comparison), base::InputError);
}

TEST(Intersections, PolesAreScoresLikeItems) {
  auto random = crossed_groups(2);
  auto scores = random.scores();
  const results::AxisSchema poles{"pole", "", {"kind", "rude"}, {}};
  const auto num_rows = random.table.axes[subject_axis].labels.size() * crossed_templates * crossed_rephrasings;
  scores.add_poles(poles, [&](std::size_t /*measure*/) {
    std::vector<double> values;
    for (std::size_t place = 0; place < 4 * num_rows; ++place) {  // two equal replicates
      values.push_back(base::random_unit(1, 2, place / 4 * 2 + place % 2));
    }
    return values;
  });
  const auto all = intersections_of(scores, crossed_questions());
  ASSERT_EQ(all.of_measures[0].poles.size(), 2 * all.parts.intersections.size());
  const auto at = [&](std::size_t subject, std::size_t cell) {
    return base::random_unit(1, 2, (subject * crossed_templates * crossed_rephrasings + cell) * 2 + 1);
  };
  double score = 0;
  double first = 0;
  double second = 0;
  for (std::size_t cell = 0; cell < crossed_templates * crossed_rephrasings; ++cell) {
    score += at(subject_of(random, "red x tall"), cell) / 10;
    first += at(subject_of(random, "red"), cell) / 10;
    second += at(subject_of(random, "tall"), cell) / 10;
  }
  expect_number(all.of_measures[0].poles[1].emerge_max, score - std::max(first, second), "rude");
  const auto text = text_of(all, crossed_questions(), 30);
  EXPECT_THAT(text, HasSubstr("rude"));
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find('\n', begin);
    EXPECT_LE(text.substr(begin, end - begin).size(), 103u)
        << text.substr(begin, end - begin);  // an ellipsis is 3 bytes
  }
}

}  // namespace
}  // namespace stereosweep::findings
