// The table of scores of a statistics file, read back.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "hdf5/File.hpp"
#include "results/ScoreTable.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {

inline std::vector<std::string> texts_of(const hdf5::DataSet& dataset) {
  std::vector<std::string> values(dataset.shape().at(0));
  dataset.read(0, std::span<std::string>(values));
  return values;
}

inline AxisSchema read_axis(const hdf5::Group& root, const std::string& name) {
  const auto labels = root.open_dataset(name);
  AxisSchema axis{name, labels.text_attribute("long_name").value_or(name), texts_of(labels), {}};
  for (const auto& member : root.names()) {
    if (!member.starts_with(name + "_")) {
      continue;
    }
    const auto dataset = root.open_dataset(member);
    if (dataset.shape().size() == 1 && dataset.type() == hdf5::ElementType::text && dataset.scale_name(0) == name) {
      axis.coordinates.push_back(
          {member.substr(name.size() + 1), dataset.text_attribute("long_name").value_or(member), texts_of(dataset)});
    }
  }
  return axis;
}

inline ScoreTable read_score_table(const std::filesystem::path& file) {
  if (check_seal(file) != Seal::intact) {
    throw base::Error("the table has no seal");
  }
  const auto opened = hdf5::File::open(file);
  const auto& root = opened.root();
  ScoreTable table;
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    table.axes[axis] = read_axis(root, score_axis_names[axis]);
  }
  table.resize();
  const auto scores = root.open_dataset("score");
  scores.read(0, table.values);
  std::vector<std::uint8_t> flags(table.values.size());
  const auto statuses = root.open_dataset("score_status");
  statuses.read(0, std::span<std::uint8_t>(flags));
  for (std::size_t index = 0; index < flags.size(); ++index) {
    table.statuses[index] = static_cast<ScoreStatus>(flags[index]);
  }
  return table;
}

}  // namespace stereosweep::results
