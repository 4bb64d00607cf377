#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "findings/variance/Variance.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

CellTable random_cells(const CellIndex& lengths, std::uint64_t seed) {
  CellTable table{lengths, {}};
  each_cell(lengths, [&](const CellIndex& at, std::size_t place) {
    double value = base::random_unit(seed, 9, place);
    for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
      value += base::random_unit(seed, axis, at[axis]) * static_cast<double>(axis + 1);
    }
    value += base::random_unit(seed, 7, at[0] * 100 + at[1] * 10 + at[5]);
    table.values.push_back(value);
  });
  return table;
}

/// Sums of squares over all cells, each effect as a difference of means: subject, item, both, template, rephrasing,
/// replicate, run, run x (subject, item), the rest; divided by their sum.
std::vector<double> plain_shares(const CellTable& table) {
  const auto mean_at = [&](const CellIndex& like, const std::vector<std::size_t>& axes) {
    double sum = 0;
    int count = 0;
    each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
      if (std::ranges::all_of(axes, [&](std::size_t axis) { return at[axis] == like[axis]; })) {
        sum += table.values[place];
        ++count;
      }
    });
    return sum / count;
  };
  std::vector<double> squares(9, 0);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    const double mean = mean_at(at, {});
    const auto effect = [&](std::size_t axis) { return mean_at(at, {axis}) - mean; };
    const double both = mean_at(at, {1, 5}) - mean - effect(1) - effect(5);
    const double in_run = mean_at(at, {0, 1, 5}) - mean_at(at, {1, 5}) - effect(0);
    std::vector<double> effects = {effect(1), effect(5), both, effect(2), effect(3), effect(4), effect(0), in_run};
    effects.push_back(table.values[place] - mean - std::accumulate(effects.begin(), effects.end(), 0.0));
    for (std::size_t source = 0; source < squares.size(); ++source) {
      squares[source] += effects[source] * effects[source];
    }
  });
  const double total = std::accumulate(squares.begin(), squares.end(), 0.0);
  std::ranges::for_each(squares, [&](double& square) { square /= total; });
  return squares;
}

TEST(VarianceShares, OfSeveralRunsAreThoseOfTheirDefinition) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CellIndex lengths;
    for (std::size_t axis = 0; axis < num_cell_axes; ++axis) {
      lengths[axis] = 1 + base::random_below(3, seed, 20, axis);
    }
    lengths[1] += 1;
    const auto table = random_cells(lengths, seed);
    const auto row = shares_of(centred(table), RunsCompared::several, 0.95);
    const auto plain = plain_shares(table);
    ASSERT_EQ(row.sources.size(), plain.size());
    std::int32_t degrees = 0;
    for (std::size_t source = 0; source < plain.size(); ++source) {
      EXPECT_NEAR(row.sources[source].share, plain[source], 1e-12) << seed << " " << source;
      degrees += row.sources[source].degrees;
    }
    EXPECT_EQ(degrees, std::ssize(table.values) - 1);
  }
}

TEST(VarianceShares, ComponentsSumUpToExpectedMeanSquares) {
  const auto table = centred(random_cells({1, 3, 5, 4, 1, 2}, 3)).table;
  const auto squares = squares_of(table);
  double sum = 0;
  for (AxisSet source = 1; source < 16; ++source) {
    sum += squares.square(source);
    // a mean square is the sum of the components that its labels hold, each times the cells that share its labels
    double expected = 0;
    for (AxisSet larger = source; larger < 16; ++larger) {
      if ((larger & source) == source) {
        double cells = 1;
        for (std::size_t axis = 0; axis < 4; ++axis) {
          const std::array<double, 4> lengths = {3, 5, 4, 2};
          cells *= (larger >> axis & 1U) != 0 ? 1 : lengths[axis];
        }
        expected += cells * squares.component(larger, 0.95).value;
      }
    }
    EXPECT_NEAR(squares.square(source) / squares.degrees(source), expected, 1e-9) << source;
  }
  EXPECT_NEAR(sum, squares.total(), 1e-9);
}

TEST(VarianceShares, OneTemplateAndOneRephrasingLeaveNoError) {
  const auto row = shares_of(centred(random_cells({1, 3, 1, 1, 1, 2}, 1)), RunsCompared::one, 0.95);
  EXPECT_TRUE(std::isnan(row.sources[0].component.value) && std::isnan(row.sources[2].component.low));
  EXPECT_GT(row.sources[0].share, 0);
}

TEST(VarianceShares, SayWhyThereAreNone) {
  EXPECT_EQ(shares_of(centred({}), RunsCompared::several, 0.95).status, VarianceStatus::no_values);
  const auto row = shares_of(centred({{1, 2, 1, 1, 1, 1}, {3, 3}}), RunsCompared::one, 0.95);
  EXPECT_EQ(row.status, VarianceStatus::constant);
  EXPECT_THAT(base::mapped(row.sources, &VarianceSource::share), Each(IsNan()));
}

TEST(VarianceShares, TheMeanOfReplicatesCountsOnlyByItself) {
  const CellTable table{{1, 1, 1, 1, 3, 2}, {1, 2, 0, 3, 2, 1}};
  const auto others = without_mean_replicate(table, {"mean", "run 1", "run 2"});
  EXPECT_THAT(others.values, ElementsAre(0, 3, 2, 1));
  EXPECT_EQ(others.lengths[replicate_axis], 2U);
  const CellTable alone{{1, 1, 1, 1, 2, 1}, {1, stats::nan}};
  EXPECT_EQ(without_mean_replicate(alone, {"mean", "run 1"}).lengths[replicate_axis], 2U);
  EXPECT_EQ(without_mean_replicate(table, {"a", "b", "c"}).values.size(), 6U);
}

}  // namespace
}  // namespace stereosweep::findings
