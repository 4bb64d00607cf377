#include "results/Layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {

namespace {

AxisSchema part_of(const AxisSchema& axis, std::uint64_t first, std::uint64_t last) {
  std::vector<std::size_t> places(last - first);
  std::iota(places.begin(), places.end(), first);
  return axis.part(places);
}

void describe_cube(hdf5::DataSet& dataset, const CubeSchema& cube, const std::vector<std::string>& coordinates,
                   const hdf5::Fill& fill) {
  dataset.write_attribute("long_name", cube.long_name.empty() ? cube.name : cube.long_name);
  if (!cube.units.empty()) {
    dataset.write_attribute("units", cube.units);
  }
  if (!cube.description.empty()) {
    dataset.write_attribute("description", cube.description);
  }
  if (!coordinates.empty()) {
    dataset.write_attribute("coordinates", base::join(coordinates, " "));
  }
  if (!cube.flag_meanings.empty()) {
    std::vector<std::uint8_t> flags(cube.flag_meanings.size());
    std::iota(flags.begin(), flags.end(), std::uint8_t{0});
    dataset.write_attribute("flag_values", std::span<const std::uint8_t>(flags));
    dataset.write_attribute("flag_meanings", base::join(cube.flag_meanings, " "));
  }
  if (const auto* number = std::get_if<double>(&fill)) {
    dataset.write_attribute("_FillValue", *number);
  } else if (const auto* single = std::get_if<float>(&fill)) {
    dataset.write_attribute("_FillValue", *single);
  }
}

}  // namespace

hdf5::Fill fill_of(const CubeSchema& cube) {
  switch (cube.type) {
    case ElementType::float64:
      return std::numeric_limits<double>::quiet_NaN();
    case ElementType::float32:
      return std::numeric_limits<float>::quiet_NaN();
    case ElementType::int32:
      return std::int32_t{-1};
    case ElementType::text:
      return {};
    case ElementType::uint8:
      break;
  }
  const auto flag = std::ranges::find(cube.flag_meanings, not_scored);
  return static_cast<std::uint8_t>(flag == cube.flag_meanings.end() ? 0 : flag - cube.flag_meanings.begin());
}

std::string coordinate_name(const std::string& axis, const std::string& coordinate) {
  return coordinate.starts_with(axis + "_") ? coordinate : axis + "_" + coordinate;
}

AxisSchema prior_axis(const RawSchema& schema) {
  auto axis = part_of(schema.outer_axes.front(), 0, schema.num_priors);
  axis.name = prior_name;
  axis.long_name = "what stands in the group's place where the score without a group is taken";
  const auto prefix = schema.outer_axes.front().name + "_";
  for (auto& coordinate : axis.coordinates) {  // "group_kind" is "prior_kind" here
    if (coordinate.name.starts_with(prefix)) {
      coordinate.name.erase(0, prefix.size());
    }
  }
  return axis;
}

AxisSchema group_axis(const RawSchema& schema) {
  const auto& axis = schema.outer_axes.front();
  return part_of(axis, schema.num_priors, axis.labels.size());
}

void Layout::add_axis(const AxisSchema& axis) {
  if (axis.labels.empty()) {
    throw base::Error(base::describe("cannot write the axis '" + axis.name + "'", "it has no values"));
  }
  auto scale = root_.create_texts(axis.name, axis.labels);
  scale.make_scale();
  scale.write_attribute("long_name", axis.long_name.empty() ? axis.name : axis.long_name);
  for (const auto& coordinate : axis.coordinates) {
    auto dataset = root_.create_texts(coordinate_name(axis.name, coordinate.name), coordinate.values);
    dataset.attach_scale(scale, 0);
    dataset.write_attribute("long_name", coordinate.long_name.empty() ? coordinate.name : coordinate.long_name);
  }
  axes_.emplace(axis.name, Axis{std::move(scale), axis});
}

const AxisSchema& Layout::axis(const std::string& name) const { return axes_.at(name).schema; }

std::uint64_t Layout::length(const std::string& axis) const { return axes_.at(axis).schema.labels.size(); }

hdf5::DataSet Layout::add_cube(const CubeSchema& cube, const std::vector<std::string>& axes) {
  hdf5::DataSetSpec spec{cube.type, {}, fill_of(cube)};
  std::vector<std::string> coordinates;
  for (const auto& axis : axes) {
    const auto& known = axes_.at(axis);
    spec.shape.push_back(known.schema.labels.size());
    for (const auto& coordinate : known.schema.coordinates) {
      coordinates.push_back(coordinate_name(axis, coordinate.name));
    }
  }
  auto dataset = root_.create_dataset(cube.name, spec);
  for (unsigned index = 0; index < axes.size(); ++index) {
    dataset.attach_scale(axes_.at(axes[index]).scale, index);
  }
  describe_cube(dataset, cube, coordinates, spec.fill);
  return dataset;
}

}  // namespace stereosweep::results
