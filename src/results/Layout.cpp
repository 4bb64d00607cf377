#include "results/Layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {

namespace {

AxisSchema part_of(const AxisSchema& axis, std::uint64_t first, std::uint64_t last) {
  std::vector<std::size_t> places(last - first);
  std::iota(places.begin(), places.end(), first);
  return axis.part(places);
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

void describe_cube(hdf5::DataSet& dataset, const CubeSchema& cube, const std::vector<std::string>& coordinates) {
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
  if (cube.type == ElementType::float64) {
    dataset.write_attribute("_FillValue", *fill_of(cube));
  } else if (cube.type == ElementType::float32) {
    dataset.write_attribute("_FillValue", static_cast<float>(*fill_of(cube)));
  }
}

/// More than deflate's 1,032: what a file of n bytes can hold.
constexpr std::uint64_t max_expansion = 2000;
constexpr std::uint64_t small_file = std::uint64_t{1} << 16;

/// False where a shape is larger than all bytes of the file could fill: memory must not be asked for it.
bool fits_file(const hdf5::DataSet& dataset, std::uint64_t file_bytes) {
  auto left = (file_bytes + small_file) * max_expansion / hdf5::element_size(dataset.type());
  for (const auto length : dataset.shape()) {
    left /= std::max<std::uint64_t>(length, 1);
  }
  return left > 0;
}

}  // namespace

std::optional<double> fill_of(const CubeSchema& cube) {
  const auto flag = place_of(cube.flag_meanings, not_scored).value_or(0);
  switch (cube.type) {
    case ElementType::text:
      return std::nullopt;
    case ElementType::int32:
      return -1;
    case ElementType::uint8:
      return static_cast<double>(flag);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string coordinate_name(const std::string& axis, const std::string& coordinate) {
  return coordinate.starts_with(axis + "_") ? coordinate : axis + "_" + coordinate;
}

AxisSchema group_axis(const RawSchema& schema) {
  const auto& axis = schema.outer_axes.front();
  return part_of(axis, schema.num_priors, axis.labels.size());
}

std::vector<AxisSchema> file_axes(const RawSchema& schema) {
  std::vector<AxisSchema> axes;
  if (schema.num_priors > 0) {
    axes.push_back(prior_axis(schema));
  }
  axes.push_back(group_axis(schema));
  axes.insert(axes.end(), schema.outer_axes.begin() + 1, schema.outer_axes.end());
  axes.insert(axes.end(), schema.inner_axes.begin(), schema.inner_axes.end());
  return axes;
}

void Layout::add_axis(const AxisSchema& axis) {
  base::fail_if(axis.labels.empty(), "cannot write the axis '" + axis.name + "'", "it has no values");
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
  describe_cube(dataset, cube, coordinates);
  return dataset;
}

hdf5::DataSet Layout::write(const CubeSchema& cube, const std::vector<std::string>& axes,
                            const std::vector<double>& values) {
  auto dataset = add_cube(cube, axes);
  auto column = empty_column(cube.type);
  const auto write_as = [&]<class T>(std::vector<T>& numbers) {
    if constexpr (std::is_arithmetic_v<T>) {
      numbers = base::mapped(values, [](double value) { return static_cast<T>(value); });
      dataset.write(0, std::span<const T>(numbers));
    }
  };
  std::visit(write_as, column);
  return dataset;
}

std::vector<std::string> read_texts(const hdf5::DataSet& dataset) {
  std::vector<std::string> values(hdf5::product(dataset.shape()));
  dataset.read(0, std::span<std::string>(values));
  return values;
}

hdf5::DataSet open_checked(const hdf5::Group& group, const std::string& name, std::uint64_t file_bytes) {
  auto dataset = group.open_dataset(name);
  base::fail_if(!fits_file(dataset, file_bytes), "'" + name + "' is said to hold more than a file of " +
                                                     base::with_thousands(file_bytes) + " bytes can");
  return dataset;
}

AxisSchema read_axis(const hdf5::Group& root, const std::string& name, std::uint64_t file_bytes) {
  const auto labels = open_checked(root, name, file_bytes);
  AxisSchema axis{name, labels.text_attribute("long_name").value_or(name), read_texts(labels), {}};
  const auto prefix = name + "_";
  for (const auto& member : root.names()) {
    if (!member.starts_with(prefix)) {
      continue;
    }
    const auto dataset = open_checked(root, member, file_bytes);
    // no scale of another axis whose name begins like this one's: "dimension_pair" beside "dimension"
    if (dataset.shape().size() == 1 && dataset.type() == ElementType::text &&
        !base::contains(dataset.attribute_names(), "CLASS") && dataset.scale_name(0) == name) {
      auto values = read_texts(dataset);
      base::fail_if(values.size() != axis.labels.size(), "the coordinate '" + member + "' does not fit its axis");
      axis.coordinates.push_back(
          {member.substr(prefix.size()), dataset.text_attribute("long_name").value_or(member), std::move(values)});
    }
  }
  return axis;
}

}  // namespace stereosweep::results
