#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stats/permutation/Relabelling.hpp"
#include "stats/sequential/PartEstimate.hpp"

namespace stereosweep::stats {
namespace {

std::size_t margin_spread(const std::vector<std::size_t>& counts) {
  const auto [least, most] = std::ranges::minmax_element(counts);
  return *most - *least;
}

TEST(VisitingOrder, has_even_margins_in_every_layer_and_ends_with_the_whole) {
  for (std::size_t rows = 2; rows <= 45; ++rows) {
    for (std::size_t columns = 1; columns <= 21; ++columns) {
      std::vector<PlannedLook> layers;
      for (std::size_t layer = 1; layer <= columns; ++layer) {
        layers.push_back({rows, layer});
      }
      const auto looks = looks_of_cells(rows, columns, layers);
      for (std::size_t layer = 0; layer < columns; ++layer) {
        std::vector<std::size_t> of_rows(rows, 0);
        std::vector<std::size_t> of_columns(columns, 0);
        for (std::size_t cell = 0; cell < looks.size(); ++cell) {
          of_rows[cell / columns] += looks[cell] <= layer ? 1 : 0;
          of_columns[cell % columns] += looks[cell] <= layer ? 1 : 0;
        }
        ASSERT_TRUE(std::ranges::all_of(of_rows, [&](auto count) { return count == layer + 1; }))
            << rows << " x " << columns;
        ASSERT_LE(margin_spread(of_columns), 1U) << rows << " x " << columns << ", layer " << layer;
      }
      EXPECT_LT(*std::ranges::max_element(looks), columns);  // so that no cell came twice
    }
  }
}

TEST(VisitingOrder, declares_nested_rounds) {
  const auto shown = [](std::size_t rows, std::size_t columns) {
    std::vector<std::size_t> cells;
    for (const auto& look : planned_looks(rows, columns)) {
      cells.push_back(look.num_rows * look.num_layers);
    }
    return cells;
  };
  using Cells = std::vector<std::size_t>;
  EXPECT_EQ(shown(35, 20), (Cells{12, 20, 35, 70, 140, 280, 700}));
  EXPECT_EQ(shown(12, 5), (Cells{12, 24, 48, 60}));
  EXPECT_EQ(shown(8, 20), (Cells{8, 16, 32, 64, 160}));
  EXPECT_EQ(shown(6, 40), (Cells{6, 12, 24, 48, 96, 240}));
  EXPECT_EQ(shown(40, 1), (Cells{12, 20, 28, 40}));
  EXPECT_EQ(shown(5, 20), (Cells{100}));  // too few templates to look at a part of them
  EXPECT_EQ(shown(1, 1), (Cells{1}));
  for (std::size_t rows = 1; rows < 60; ++rows) {
    for (std::size_t columns = 1; columns < 40; ++columns) {
      const auto cells = shown(rows, columns);
      EXPECT_TRUE(std::ranges::is_sorted(cells, std::less_equal())) << rows << " x " << columns;
      EXPECT_EQ(cells.back(), rows * columns);
      EXPECT_LT(cells.size(), 12U);
    }
  }
}

TEST(VisitingOrder, gives_the_diagonal_fresh_rows_and_columns) {
  const auto looks = looks_of_cells(35, 20, planned_looks(35, 20));
  std::set<std::size_t> columns;
  for (std::size_t cell = 0; cell < looks.size(); ++cell) {
    if (looks[cell] <= 1) {
      EXPECT_TRUE(columns.insert(cell % 20).second);
    }
  }
  EXPECT_EQ(columns.size(), 20U);
}

TEST(VisitingOrder, shuffles_evenly_by_its_seed) {
  const auto shuffled_places = [](std::size_t length, std::uint64_t seed, std::uint64_t stream) {
    std::vector<std::size_t> places(length);
    shuffle(places, seed, stream);
    return places;
  };
  EXPECT_EQ(shuffled_places(9, 3, 7), shuffled_places(9, 3, 7));
  std::vector<double> counts(25, 0);
  constexpr int draws = 20'000;
  for (int seed = 0; seed < draws; ++seed) {
    const auto places = shuffled_places(5, seed, 1);
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), 5U);
    for (std::size_t place = 0; place < 5; ++place) {
      counts[place * 5 + places[place]] += 1;
    }
  }
  for (const double count : counts) {
    EXPECT_NEAR(count / draws, 0.2, 5 * 0.4 / std::sqrt(draws));
  }
}

}  // namespace
}  // namespace stereosweep::stats
