#include "findings/variance/Variance.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

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
  comparison.variance = std::move(measures);
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

/// Standard error of a subject's mean with `k` labels of the axis: residuals of subjects x labels, item by item.
double plain_error(const std::vector<PlainCell>& cells, std::size_t axis, std::size_t k) {
  double squares = 0;
  for (const auto& cell : cells) {
    const double rest = mean_like(cells, cell, {0, axis, 4}) - mean_like(cells, cell, {0, 4}) -
                        mean_like(cells, cell, {axis, 4}) + mean_like(cells, cell, {4});
    squares += rest * rest;
  }
  const auto labels = plain_length(cells, axis);
  const auto subjects = plain_length(cells, 0);
  const auto items = plain_length(cells, 4);
  const auto repeats = static_cast<double>(cells.size() / (labels * subjects * items));
  return std::sqrt(squares / repeats / static_cast<double>((subjects - 1) * (labels - 1) * items * k));
}

double plain_deviation(const std::vector<PlainCell>& cells) {
  double squares = 0;
  for (const auto& cell : cells) {
    squares += std::pow(mean_like(cells, cell, {0, 4}) - mean_like(cells, cell, {4}), 2);
  }
  const auto subjects = plain_length(cells, 0);
  const auto items = plain_length(cells, 4);
  const auto repeats = static_cast<double>(cells.size() / (subjects * items));
  return std::sqrt(squares / repeats / static_cast<double>((subjects - 1) * items));
}

void expect_sufficiency(const Sufficiency& sufficiency, const std::vector<PlainCell>& cells, std::size_t axis,
                        std::size_t length) {
  ASSERT_EQ(sufficiency.errors.size(), length);
  if (plain_length(cells, 0) < 2 || plain_length(cells, axis) < 2) {
    EXPECT_TRUE(std::ranges::all_of(sufficiency.errors, [](double error) { return std::isnan(error); }));
    EXPECT_EQ(sufficiency.enough, -1);
    return;
  }
  for (std::size_t k = 1; k <= length; ++k) {
    EXPECT_NEAR(sufficiency.errors[k - 1], plain_error(cells, axis, k), 1e-9);
  }
  const double wanted = 0.05 * plain_deviation(cells);
  if (wanted < 1e-10) {
    EXPECT_EQ(sufficiency.enough, -1);
    return;
  }
  const double one = plain_error(cells, axis, 1);
  std::int32_t k = 1;
  while (one / std::sqrt(k) > wanted * (1 + 1e-10) && k < 10'000'000) {
    ++k;
  }
  EXPECT_EQ(sufficiency.enough, k);
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
    EXPECT_TRUE(std::ranges::all_of(row.shares.shares, [](double share) { return std::isnan(share); }));
    return;
  }
  EXPECT_EQ(row.shares.status, cells.size() == all.size() ? VarianceStatus::ok : VarianceStatus::unbalanced);
  for (std::size_t source = 0; source < squares.size(); ++source) {
    EXPECT_NEAR(row.shares.shares[source], squares[source] / total, 1e-9) << source;
  }
  double direct = 0;  // the total by itself
  for (const auto& cell : cells) {
    direct += std::pow(cell.value - mean_like(cells, cell, {}), 2);
  }
  EXPECT_NEAR(total, direct, 1e-9 * direct);
  EXPECT_NEAR(std::accumulate(row.shares.shares.begin(), row.shares.shares.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(std::accumulate(row.shares.degrees.begin(), row.shares.degrees.end(), 0), std::ssize(cells) - 1);
  const auto degrees = [&](std::size_t axis) { return static_cast<std::int32_t>(plain_length(cells, axis)) - 1; };
  EXPECT_EQ(row.shares.degrees[2], degrees(0) * degrees(4));
  EXPECT_EQ(row.shares.degrees[4], degrees(2));
  if (plain_length(cells, 0) > 1) {
    EXPECT_NEAR(row.subject_deviation, plain_deviation(cells), 1e-9);
  }
  expect_sufficiency(row.templates, cells, 1, random.table.length(2));
  expect_sufficiency(row.rephrasings, cells, 2, random.table.length(3));
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
      EXPECT_NEAR(row.shares.shares[source], source == source_of[axis - 1] ? 1 : 0, 1e-9) << axis;
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

TEST(Variance, EnoughTemplatesAreThoseOfASimulation) {
  // subjects differ by 1 (sd), a template's own view of a subject by 0.5: 0.5 / sqrt(k) = 0.05 at k = 100
  RandomScores random({1, 200, 40, 1, 1, 3});
  for (std::size_t s = 0; s < 200; ++s) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto normal = [&](std::uint64_t stream, std::uint64_t counter) {
        double sum = -6;
        for (std::uint64_t n = 0; n < 12; ++n) {
          sum += base::random_unit(stream, counter, n);
        }
        return sum;
      };
      const double own = normal(1, s * 3 + i);
      for (std::size_t t = 0; t < 40; ++t) {
        random.at({0, s, t, 0, 0, i}) = own + 7.0 * static_cast<double>(t) + 0.5 * normal(2, (s * 3 + i) * 40 + t);
      }
    }
  }
  const auto row = variance_of(random.scores(), asked_variance()).rows.at(0);
  EXPECT_NEAR(row.templates.errors.at(24), 0.1, 0.005);
  EXPECT_NEAR(row.templates.enough, 100, 12);
  EXPECT_EQ(row.rephrasings.enough, -1);
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
  const auto variance = variance_of(random.scores(), asked_variance({"measure2", "measure0"}));
  write_variance(layout, variance);
  EXPECT_THAT(layout.axis("variance_measure").labels, ElementsAre("measure0", "measure2"));
  const auto dataset = file.root().open_dataset("variance_share");
  std::vector<double> shares(14);
  EXPECT_EQ(dataset.shape(), (hdf5::Shape{2, 7}));
  dataset.read(dataset.all(), std::span<double>(shares));
  EXPECT_NEAR(std::accumulate(shares.begin() + 7, shares.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(file.root().open_dataset("template_error").shape(), (hdf5::Shape{2, 4}));
  EXPECT_EQ(file.root().open_dataset("rephrasing_error").shape(), (hdf5::Shape{2, 2}));
  std::vector<std::int32_t> enough(2);
  const auto templates = file.root().open_dataset("enough_templates");
  templates.read(templates.all(), std::span<std::int32_t>(enough));
  EXPECT_EQ(enough[1], variance.rows[1].templates.enough);
  for (const auto* name : {"variance_degrees", "variance_status", "variance_num_left_out", "enough_rephrasings"}) {
    EXPECT_TRUE(file.root().contains(name)) << name;
  }
  const auto text = variance_text(variance, 0.95);
  EXPECT_THAT(text, HasSubstr("Variance in % by source"));
  for (const auto& line : base::split(text, '\n')) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_THROW(variance_of(random.scores(), asked_variance({"none"})), base::InputError);
}

}  // namespace
}  // namespace stereosweep::findings
