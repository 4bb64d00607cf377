#include "findings/sharing/Sharing.hpp"

#include <gtest/gtest.h>

namespace stereosweep::findings {
namespace {

/// A table of two measures in memory that counts its readings.
struct CountedTable {
  std::array<results::AxisSchema, 6> axes;
  std::vector<std::size_t> read;
  Scores scores;

  CountedTable() {
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      axes[axis] = {results::score_axis_names[axis], "", {"a"}, {}};
      scores.axes[axis] = &axes[axis];
    }
    axes[measure_axis].labels = {"one", "two", "three"};
    scores.read = [this](std::size_t measure) {
      read.push_back(measure);
      return std::vector<double>{0.5 + static_cast<double>(measure)};
    };
  }
};

TEST(Sharing, GivesTheUnitsOfOneRankInTheirOrder) {
  std::vector<std::size_t> computed;
  const auto rows = share<std::int32_t>({}, 4, [&](std::size_t unit) {
    computed.push_back(unit);
    return std::vector<std::int32_t>(unit, static_cast<std::int32_t>(10 * unit));
  });
  EXPECT_EQ(computed, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(rows, (std::vector<std::vector<std::int32_t>>{{}, {10}, {20, 20}, {30, 30, 30}}));
  EXPECT_TRUE(share_bytes({}, 0, [](std::size_t /*unit*/) { return UnitBytes(1); }).empty());
}

TEST(Sharing, ReadsEveryMeasureOnce) {
  CountedTable table;
  const auto rows =
      share_measures<double>(table.scores, {2, 0}, [](const std::vector<double>& values, std::size_t place) {
        return std::vector<double>{values.front(), static_cast<double>(place)};
      });
  EXPECT_EQ(rows, (std::vector<std::vector<double>>{{2.5, 0}, {0.5, 1}}));
  EXPECT_EQ(table.read, (std::vector<std::size_t>{2, 0}));
}

TEST(Sharing, OneRankHasItsOwnTable) {
  CountedTable table;
  const SharedScores shared(&table.scores, {});
  EXPECT_EQ(shared.scores().read(1), std::vector<double>{1.5});
  EXPECT_EQ(shared.scores().axes, table.scores.axes);
  EXPECT_FALSE(shared.scores().read_statuses);
}

}  // namespace
}  // namespace stereosweep::findings
