#include "results/AxisReader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::results {
namespace {

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

/// Of another axis whose name begins like this one's: "dimension_pair" beside "dimension".
bool is_scale(const hdf5::DataSet& dataset) {
  const auto attributes = dataset.attribute_names();
  return base::contains(attributes, "CLASS");
}

}  // namespace

std::vector<std::string> read_texts(const hdf5::DataSet& dataset) {
  std::vector<std::string> values(hdf5::product(dataset.shape()));
  dataset.read(dataset.all(), std::span<std::string>(values));
  return values;
}

hdf5::DataSet open_checked(const hdf5::Group& group, const std::string& name, std::uint64_t file_bytes) {
  auto dataset = group.open_dataset(name);
  if (!fits_file(dataset, file_bytes)) {
    throw base::Error("'" + name + "' is said to hold more than a file of " + base::with_thousands(file_bytes) +
                      " bytes can");
  }
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
    if (dataset.shape().size() == 1 && dataset.type() == ElementType::text && !is_scale(dataset) &&
        dataset.scale_name(0) == name) {
      auto values = read_texts(dataset);
      if (values.size() != axis.labels.size()) {
        throw base::Error("the coordinate '" + member + "' does not fit its axis");
      }
      axis.coordinates.push_back(
          {member.substr(prefix.size()), dataset.text_attribute("long_name").value_or(member), std::move(values)});
    }
  }
  return axis;
}

}  // namespace stereosweep::results
