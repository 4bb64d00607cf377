// The table of scores: what is written in parts is read back, labels and numbers.
#include "results/ScoreTable.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/files/PendingFile.hpp"
#include "hdf5/File.hpp"
#include "results/ReadScoreTable.hpp"
#include "results/Seal.hpp"
#include "results/tables/StatisticsTable.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::results {
namespace {

AxisSchema axis_of(std::size_t place, std::size_t length) {
  AxisSchema axis{score_axis_names.at(place), "for the test", {}, {{"part", "a coordinate", {}}}};
  for (std::size_t index = 0; index < length; ++index) {
    axis.labels.push_back(std::to_string(index));
    axis.coordinates.front().values.push_back("part " + std::to_string(index));
  }
  return axis;
}

ScoreTable some_table(std::size_t num_subjects, std::size_t num_templates, std::size_t num_items) {
  ScoreTable table;
  table.axes = {axis_of(0, 3), axis_of(1, num_subjects), axis_of(2, num_templates),
                axis_of(3, 2), ScoreTable::no_axis(4),   axis_of(5, num_items)};
  table.resize();
  for (std::size_t index = 0; index < table.values.size(); ++index) {
    table.values[index] = 0.5 * static_cast<double>(index);
    table.statuses[index] = index % 7 == 0 ? ScoreStatus::partial : ScoreStatus::ok;
  }
  return table;
}

/// Numbers of sentences [first, first + count) of a subject.
ScoreTableWriter::Part part_of(const ScoreTable& table, std::size_t subject, std::size_t first, std::size_t count) {
  ScoreTableWriter::Part part{subject, first, count, {}, {}};
  for (std::size_t measure = 0; measure < table.length(0); ++measure) {
    for (std::size_t sentence = first; sentence < first + count; ++sentence) {
      for (std::size_t item = 0; item < table.length(5); ++item) {
        const auto place = table.index({measure, subject, sentence / 2, sentence % 2, 0, item});
        part.values.push_back(table.values[place]);
        part.statuses.push_back(table.statuses[place]);
      }
    }
  }
  return part;
}

template <class Write>
ScoreTable written_and_read(const std::filesystem::path& path, Write write) {
  base::PendingFile pending(path);
  auto file = hdf5::File::create(pending.path());
  {
    Layout layout(file.root());
    write(layout);
  }
  file.finish();
  commit_sealed(pending);
  return read_score_table(path);
}

void expect_equal(const ScoreTable& left, const ScoreTable& right) {
  EXPECT_EQ(left.values, right.values);
  EXPECT_EQ(left.statuses, right.statuses);
  for (std::size_t axis = 0; axis < left.axes.size(); ++axis) {
    EXPECT_EQ(left.axes[axis].name, right.axes[axis].name);
    EXPECT_EQ(left.axes[axis].labels, right.axes[axis].labels);
    ASSERT_EQ(left.axes[axis].coordinates.size(), right.axes[axis].coordinates.size());
    for (std::size_t place = 0; place < left.axes[axis].coordinates.size(); ++place) {
      EXPECT_EQ(left.axes[axis].coordinates[place].name, right.axes[axis].coordinates[place].name);
      EXPECT_EQ(left.axes[axis].coordinates[place].values, right.axes[axis].coordinates[place].values);
    }
  }
}

TEST(ScoreTable, IsReadAsItWasWritten) {
  const testing::TemporaryDirectory directory;
  const auto table = some_table(4, 3, 5);
  const auto read =
      written_and_read(directory / "whole.stats.h5", [&](Layout& layout) { write_score_table(layout, table); });
  expect_equal(table, read);
}

TEST(ScoreTable, PartsBecomeTheSameTable) {
  const testing::TemporaryDirectory directory;
  // subjects that share a chunk, with a last chunk that is not full; and subjects larger than a chunk, cut in sentences
  for (const auto& [subjects, items, cut] : {std::tuple(23, 600, 8), std::tuple(2, 9000, 3)}) {
    const auto table = some_table(static_cast<std::size_t>(subjects), 4, static_cast<std::size_t>(items));
    const auto read = written_and_read(directory / (std::to_string(items) + ".stats.h5"), [&](Layout& layout) {
      ScoreTableWriter writer(layout, table.axes);
      for (std::size_t subject = 0; subject < table.length(1); ++subject) {
        for (std::size_t first = 0; first < 8; first += static_cast<std::size_t>(cut)) {
          writer.add(part_of(table, subject, first, std::min<std::size_t>(static_cast<std::size_t>(cut), 8 - first)));
        }
      }
      writer.flush();
    });
    expect_equal(table, read);
  }
}

TEST(ScoreTable, WhatWasNotWrittenIsUnscored) {
  const testing::TemporaryDirectory directory;
  const auto table = some_table(2, 1, 1);
  const auto read = written_and_read(directory / "empty.stats.h5", [&](Layout& layout) {
    ScoreTableWriter writer(layout, table.axes);
    writer.add(part_of(table, 1, 0, 2));
    writer.flush();
  });
  EXPECT_TRUE(std::isnan(read.values[read.index({0, 0, 0, 0, 0, 0})]));
  EXPECT_EQ(read.statuses[read.index({0, 0, 0, 0, 0, 0})], ScoreStatus::unscored);
  EXPECT_EQ(read.values[read.index({2, 1, 0, 1, 0, 0})], table.values[table.index({2, 1, 0, 1, 0, 0})]);
}

/// A sealed file of some_table(2, 2, 3) and what `add` writes beside it.
std::filesystem::path file_with(const testing::TemporaryDirectory& folder, const auto& add) {
  const auto path = folder / "run.stats.h5";
  base::PendingFile pending(path);
  auto file = hdf5::File::create(pending.path());
  file.root().write_attribute("schema", "stereosweep-statistics/test");
  {
    Layout layout(file.root());
    add(layout, file.root());
  }
  file.finish();
  commit_sealed(pending);
  return path;
}

void add_table(Layout& layout) { write_score_table(layout, some_table(2, 2, 3)); }

TEST(StatisticsFile, ACompanionOverOtherAxesThanItsValuesIsRefused) {
  const testing::TemporaryDirectory folder;
  const auto path = file_with(folder, [](Layout& layout, hdf5::Group& /*root*/) {
    add_table(layout);
    layout.write({.name = "mean", .long_name = "mean"}, {"subject"}, std::vector<double>(2, 1.0))
        .write_attribute("role", "value");
    auto n = layout.write({.name = "mean_n", .long_name = "cells"}, {"subject", "item"}, std::vector<double>(6, 1.0));
    n.write_attribute("role", "n");
    n.write_attribute("of", "mean");
  });
  std::ostringstream out;
  EXPECT_THROW(write_statistics_table(path, TableFormat::csv, {}, out), base::InputError);
}

TEST(StatisticsFile, CsvAsItIsIsOneTableWithAllDigits) {
  const testing::TemporaryDirectory folder;
  const auto path = file_with(folder, [](Layout& layout, hdf5::Group& /*root*/) {
    add_table(layout);
    layout.write({.name = "mean", .long_name = "mean"}, {"subject"}, std::vector<double>(2, 1.0 / 3));
    layout.write({.name = "share", .long_name = "share"}, {"item"}, std::vector<double>(3, 0.125));
  });
  std::ostringstream usual;
  write_statistics_table(path, TableFormat::csv, {}, usual);
  EXPECT_NE(usual.str().find("0.3333333333333333"), std::string::npos) << usual.str();
  std::ostringstream as_it_is;
  write_statistics_table(path, TableFormat::csv_as_is, {}, as_it_is);
  EXPECT_EQ(as_it_is.str(), usual.str());  // no text here begins as a formula does
}

TEST(ScoreFile, MeansOfPeopleThatDoNotFitTheirAxesAreRefused) {
  const testing::TemporaryDirectory folder;
  const auto path = file_with(folder, [](Layout& layout, hdf5::Group& root) {
    add_table(layout);
    root.create_dataset("people_mean", {hdf5::ElementType::float64, {1, 2, 3}, 0.0});
    auto means = root.open_dataset("people_mean");
    for (unsigned axis = 0; axis < 3; ++axis) {
      means.attach_scale(root.open_dataset("item"), axis);
    }
  });
  EXPECT_THROW(ScoreFile(path).peoples_means(), base::InputError);
}

TEST(ScoreFile, StatusesThatDoNotFitTheScoresAreRefused) {
  const testing::TemporaryDirectory folder;
  const auto path = file_with(folder, [](Layout& layout, hdf5::Group& /*root*/) {
    const auto table = some_table(2, 2, 3);
    std::vector<std::string> names;
    for (const auto& axis : table.axes) {
      layout.add_axis(axis);
      names.push_back(axis.name);
    }
    layout.write({.name = "score", .long_name = "score"}, names, table.values);
    layout.write({.name = "score_status",
                  .type = ElementType::uint8,
                  .long_name = "status",
                  .flag_meanings = score_status_names},
                 {"measure"}, std::vector<double>(3, 0));
  });
  EXPECT_THROW({ const ScoreFile file(path); }, base::InputError);
}

}  // namespace
}  // namespace stereosweep::results
