#include "findings/variance/Variance.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/RandomScores.hpp"
#include "hdf5/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

sweep::Comparison asked_variance(std::vector<std::string> measures = {}) {
  sweep::Comparison comparison;
  comparison.variance = sweep::VarianceRequest{std::move(measures)};
  return comparison;
}

/// A cell of a list of cells: its labels (subject, template, rephrasing, replicate, item) and number.
struct PlainCell {
  std::array<std::size_t, 5> at;
  double value;
};

std::vector<PlainCell> plain_cells_of(RandomScores& random, std::size_t measure) {
  std::vector<PlainCell> cells;
  const auto& table = random.table;
  for (std::size_t s = 0; s < table.length(1); ++s) {
    for (std::size_t t = 0; t < table.length(2); ++t) {
      for (std::size_t r = 0; r < table.length(3); ++r) {
        for (std::size_t p = 0; p < table.length(4); ++p) {
          for (std::size_t i = 0; i < table.length(5); ++i) {
            cells.push_back({{s, t, r, p, i}, random.at({measure, s, t, r, p, i})});
          }
        }
      }
    }
  }
  return cells;
}

/// Mean of the cells that agree with `like` on `axes`.
double mean_like(const std::vector<PlainCell>& cells, const PlainCell& like, const std::vector<std::size_t>& axes) {
  double sum = 0;
  int count = 0;
  for (const auto& cell : cells) {
    if (std::ranges::all_of(axes, [&](std::size_t axis) { return cell.at[axis] == like.at[axis]; })) {
      sum += cell.value;
      ++count;
    }
  }
  return sum / count;
}

std::size_t plain_length(const std::vector<PlainCell>& cells, std::size_t axis) {
  std::vector<std::size_t> labels;
  for (const auto& cell : cells) {
    if (std::ranges::find(labels, cell.at[axis]) == labels.end()) {
      labels.push_back(cell.at[axis]);
    }
  }
  return labels.size();
}

/// Drops the label that lacks the largest share of its cells until none lacks any.
std::vector<PlainCell> plain_complete(std::vector<PlainCell> cells) {
  while (std::ranges::any_of(cells, [](const auto& cell) { return std::isnan(cell.value); })) {
    double largest = 0;
    std::size_t worst_axis = 0;
    std::size_t worst = 0;
    for (const std::size_t axis : {1U, 0U, 2U, 3U, 4U}) {
      for (std::size_t label = 0; label < 5; ++label) {
        int all = 0;
        int missing = 0;
        for (const auto& cell : cells) {
          all += cell.at[axis] == label ? 1 : 0;
          missing += cell.at[axis] == label && std::isnan(cell.value) ? 1 : 0;
        }
        if (all > 0 && static_cast<double>(missing) / all > largest + 1e-12) {
          largest = static_cast<double>(missing) / all;
          worst_axis = axis;
          worst = label;
        }
      }
    }
    std::erase_if(cells, [&](const auto& cell) { return cell.at[worst_axis] == worst; });
  }
  return cells;
}

/// Sums of squares of all sources, each as a sum over all cells.
std::array<double, 7> plain_squares(const std::vector<PlainCell>& cells) {
  std::array<double, 7> squares{};
  for (const auto& cell : cells) {
    const double mean = mean_like(cells, cell, {});
    const auto effect = [&](std::size_t axis) { return mean_like(cells, cell, {axis}) - mean; };
    const double both = mean_like(cells, cell, {0, 4}) - mean - effect(0) - effect(4);
    const std::array<double, 6> effects = {effect(0), effect(4), both, effect(1), effect(2), effect(3)};
    double rest = cell.value - mean;
    for (std::size_t source = 0; source < effects.size(); ++source) {
      squares[source] += effects[source] * effects[source];
      rest -= effects[source];
    }
    squares[6] += rest * rest;
  }
  return squares;
}

void expect_variance(const VarianceRow& row, RandomScores& random, std::size_t measure) {
  const auto all = plain_cells_of(random, measure);
  const auto cells = plain_complete(all);
  const auto scores = std::ranges::count_if(all, [](const auto& cell) { return !std::isnan(cell.value); });
  ASSERT_EQ(row.shares.num_cells, std::ssize(cells));
  EXPECT_EQ(row.shares.num_left_out, scores - std::ssize(cells));
  const auto squares = plain_squares(cells);
  const double total = std::accumulate(squares.begin(), squares.end(), 0.0);
  if (cells.empty() || total < 1e-20) {
    EXPECT_EQ(row.shares.status, cells.empty() ? VarianceStatus::no_values : VarianceStatus::constant);
    EXPECT_TRUE(std::ranges::all_of(row.shares.sources, [](const auto& one) { return std::isnan(one.share); }));
    return;
  }
  EXPECT_EQ(row.shares.status, cells.size() == all.size() ? VarianceStatus::ok : VarianceStatus::unbalanced);
  for (std::size_t source = 0; source < squares.size(); ++source) {
    EXPECT_NEAR(row.shares.sources[source].share, squares[source] / total, 1e-9) << source;
  }
  double direct = 0;  // the total by itself
  for (const auto& cell : cells) {
    direct += std::pow(cell.value - mean_like(cells, cell, {}), 2);
  }
  EXPECT_NEAR(total, direct, 1e-9 * direct);
  double sum_of_shares = 0;
  std::int32_t sum_of_degrees = 0;
  for (const auto& source : row.shares.sources) {
    sum_of_shares += source.share;
    sum_of_degrees += source.degrees;
  }
  EXPECT_NEAR(sum_of_shares, 1, 1e-12);
  EXPECT_EQ(sum_of_degrees, std::ssize(cells) - 1);
  const auto degrees = [&](std::size_t axis) { return static_cast<std::int32_t>(plain_length(cells, axis)) - 1; };
  EXPECT_EQ(row.shares.sources[2].degrees, degrees(0) * degrees(4));
  EXPECT_EQ(row.shares.sources[4].degrees, degrees(2));
}

/// Mean squares of subjects, subjects x templates, ..., by residuals within items: [template bit 1, rephrasing bit 2].
std::array<double, 4> plain_mean_squares(const std::vector<PlainCell>& cells) {
  std::array<double, 4> squares{};
  std::array<double, 4> degrees{};
  for (std::size_t axes = 0; axes < 4; ++axes) {
    std::vector<std::size_t> effect = {0};
    if ((axes & 1U) != 0) {
      effect.push_back(1);
    }
    if ((axes & 2U) != 0) {
      effect.push_back(2);
    }
    for (const auto& cell : cells) {
      double rest = 0;
      for (std::size_t part = 0; part < std::size_t{1} << effect.size(); ++part) {
        std::vector<std::size_t> like = {4};
        for (std::size_t place = 0; place < effect.size(); ++place) {
          if ((part >> place & 1U) != 0) {
            like.push_back(effect[place]);
          }
        }
        rest += ((effect.size() - like.size() + 1) % 2 == 0 ? 1 : -1) * mean_like(cells, cell, like);
      }
      squares[axes] += rest * rest;
    }
    degrees[axes] = static_cast<double>(plain_length(cells, 4));
    for (const auto axis : effect) {
      degrees[axes] *= static_cast<double>(plain_length(cells, axis)) - 1;
    }
    squares[axes] /= degrees[axes] * static_cast<double>(plain_length(cells, 3));  // replicates are averaged
  }
  return squares;
}

/// Both crossed facets have several labels: the estimates of Brennan 2001, ch. 3.
void expect_reliability(const VarianceRow& row, RandomScores& random, std::size_t measure) {
  const auto cells = plain_complete(plain_cells_of(random, measure));
  const bool is_known = row.shares.status == VarianceStatus::ok || row.shares.status == VarianceStatus::unbalanced;
  if (!is_known || plain_length(cells, 0) < 2 || plain_length(cells, 1) < 2 || plain_length(cells, 2) < 2) {
    EXPECT_TRUE(row.status == ReliabilityStatus::not_computed || is_known);
    return;
  }
  const auto templates = static_cast<double>(plain_length(cells, 1));
  const auto rephrasings = static_cast<double>(plain_length(cells, 2));
  const auto [of_subjects, with_templates, with_rephrasings, with_both] = plain_mean_squares(cells);
  const double scale = 1e-9 * (of_subjects + with_templates + with_rephrasings + with_both);
  const double subjects = (of_subjects - with_templates - with_rephrasings + with_both) / (templates * rephrasings);
  EXPECT_NEAR(row.subjects.value, subjects, scale);
  EXPECT_LE(row.subjects.low, subjects + scale);
  EXPECT_GE(row.subjects.high, subjects - scale);
  const double error = std::max((with_templates - with_both) / rephrasings, 0.0) / templates +
                       std::max((with_rephrasings - with_both) / templates, 0.0) / rephrasings +
                       with_both / (templates * rephrasings);
  const double own = std::max(subjects, 0.0);
  if (own + error > 100 * scale) {
    EXPECT_NEAR(row.own.relative, own / (own + error), 1e-6);
    EXPECT_LE(row.own.absolute, row.own.relative + 1e-9);
  }
  if (row.status == ReliabilityStatus::none) {
    EXPECT_TRUE(std::isnan(row.enough_templates) && std::isnan(row.enough_rephrasings));
  }
}

TEST(Variance, IsSharedOutAsItsDefinitionSays) {
  std::array<int, 4> statuses{};
  for (std::uint64_t seed = 0; seed < 72; ++seed) {
    SCOPED_TRACE(seed);
    auto random = RandomScores::of(seed);
    const auto variance = variance_of(random.scores(), asked_variance());
    ASSERT_EQ(variance.rows.size(), random.table.length(0));
    for (std::size_t measure = 0; measure < variance.rows.size(); ++measure) {
      expect_variance(variance.rows[measure], random, measure);
      expect_reliability(variance.rows[measure], random, measure);
      ++statuses[static_cast<std::size_t>(variance.rows[measure].shares.status)];
    }
  }
  EXPECT_TRUE(std::ranges::all_of(statuses, [](int count) { return count > 3; }));
}

TEST(Variance, AMeasureOfOneSourceHasAllOfItThere) {
  for (std::size_t axis = 1; axis <= 5; ++axis) {
    RandomScores random({1, 3, 4, 2, 3, 5});
    random.fill(1, 0);
    for (auto& cell : plain_cells_of(random, 0)) {
      random.at({0, cell.at[0], cell.at[1], cell.at[2], cell.at[3], cell.at[4]}) =
          1e6 + static_cast<double>(cell.at[axis - 1]);
    }
    const auto row = variance_of(random.scores(), asked_variance()).rows.at(0);
    const std::array<std::size_t, 5> source_of = {0, 3, 4, 5, 1};
    for (std::size_t source = 0; source < 7; ++source) {
      EXPECT_NEAR(row.shares.sources[source].share, source == source_of[axis - 1] ? 1 : 0, 1e-9) << axis;
    }
  }
}

TEST(Variance, OneSubjectWithoutScoresIsLeftOutAndNotEveryTemplate) {
  RandomScores random({1, 4, 3, 2, 1, 2});
  random.fill(1, 0);
  for (auto& cell : plain_cells_of(random, 0)) {
    if (cell.at[0] == 2 && cell.at[4] == 1) {
      random.at({0, cell.at[0], cell.at[1], cell.at[2], cell.at[3], cell.at[4]}) = stats::nan;
    }
  }
  const auto row = variance_of(random.scores(), asked_variance()).rows.at(0);
  EXPECT_EQ(row.shares.status, VarianceStatus::unbalanced);
  EXPECT_EQ(row.shares.num_cells, 3 * 3 * 2 * 2);
  EXPECT_EQ(row.shares.num_left_out, 3 * 2);
}

/// Subjects differ by `between` (sd), templates add to all, and each has a view of a subject (sd 1).
RandomScores with_subjects(double between, std::uint64_t seed, const std::vector<std::size_t>& lengths) {
  RandomScores random(lengths);
  std::mt19937_64 numbers(seed);
  std::normal_distribution<double> normal;
  for (std::size_t s = 0; s < lengths[1]; ++s) {
    for (std::size_t i = 0; i < lengths[5]; ++i) {
      const double own = between * normal(numbers);
      for (std::size_t t = 0; t < lengths[2]; ++t) {
        random.at({0, s, t, 0, 0, i}) = own + 7.0 * static_cast<double>(t) + normal(numbers);
      }
    }
  }
  return random;
}

TEST(Variance, ReliabilityIsThatOfASimulation) {
  const auto row = variance_of(with_subjects(1, 5, {1, 200, 40, 1, 1, 3}).scores(), asked_variance()).rows.at(0);
  EXPECT_EQ(row.status, ReliabilityStatus::ok);
  EXPECT_NEAR(row.subjects.value, 1, 0.15);
  EXPECT_LT(row.subjects.low, 1);
  EXPECT_GT(row.subjects.high, 1);
  EXPECT_NEAR(row.own.relative, 40.0 / 41, 0.01);  // 1 / (1 + 1 / 40)
  EXPECT_LT(row.own.absolute, 0.5);
  EXPECT_NEAR(row.enough_templates, 9, 1);  // 1 / (1 + 1 / 9) = 0.9
  EXPECT_TRUE(std::isnan(row.enough_rephrasings));
}

TEST(Variance, OfNoiseHasNoSubjectsAndNoEnoughTemplates) {
  int none = 0;
  int subjects_hold = 0;
  int pairs_hold = 0;
  constexpr int sets = 300;
  for (std::uint64_t set = 0; set < sets; ++set) {
    const auto row = variance_of(with_subjects(0, set, {1, 8, 10, 1, 1, 4}).scores(), asked_variance()).rows.at(0);
    none += row.status == ReliabilityStatus::none && std::isnan(row.enough_templates) ? 1 : 0;
    const auto holds = [&](std::size_t source) {
      return row.shares.sources[source].component.low <= 0 && 0 <= row.shares.sources[source].component.high ? 1 : 0;
    };
    subjects_hold += holds(0);
    pairs_hold += holds(2);
  }
  EXPECT_GT(none, 0.93 * sets);
  EXPECT_GT(subjects_hold, 0.92 * sets);
  EXPECT_GT(pairs_hold, 0.92 * sets);
}

TEST(Variance, IsWrittenAndShownForChosenMeasures) {
  RandomScores random({3, 3, 4, 2, 1, 2});
  random.fill(8, 0);
  const stereosweep::testing::TemporaryDirectory folder;
  auto file = hdf5::File::create(folder / "variance.h5");
  results::Layout layout(file.root());
  for (const auto& axis : random.table.axes) {
    layout.add_axis(axis);
  }
  const auto asked = asked_variance({"measure2", "measure0"});
  const auto variance = variance_of(random.scores(), asked);
  std::string text;
  for (const auto& finding : findings_of(variance, asked)) {
    write(layout, finding);
    text += told_by(finding, 10).text();
  }
  EXPECT_THAT(layout.axis("variance_measure").labels, ElementsAre("measure0", "measure2"));
  const auto dataset = file.root().open_dataset("variance_share");
  std::vector<double> shares(14);
  EXPECT_EQ(dataset.shape(), (hdf5::Shape{2, 7}));
  dataset.read(0, std::span<double>(shares));
  EXPECT_NEAR(std::accumulate(shares.begin() + 7, shares.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(file.root().open_dataset("reliability_relative").shape(), (hdf5::Shape{2, 7, 8}));
  EXPECT_EQ(layout.axis("rephrasing_count").labels.front(), "2");
  for (const auto* name :
       {"variance_component", "variance_component_low", "variance_degrees", "variance_status", "variance_num_left_out",
        "subject_variance", "subject_variance_enough_templates", "reliability_absolute"}) {
    EXPECT_TRUE(file.root().contains(name)) << name;
  }
  EXPECT_THAT(text, HasSubstr("Variance in parts by source of measure0"));
  EXPECT_THAT(text, HasSubstr("Reliability of subjects' means"));
  for (const auto& line : base::split(text, '\n')) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_THROW(variance_of(random.scores(), asked_variance({"none"})), base::InputError);
}

}  // namespace
}  // namespace stereosweep::findings
