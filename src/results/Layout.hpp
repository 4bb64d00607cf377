// Where a schema's axes and cubes stand in a file: names, scales, attributes. Used by the export and by `stats`.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hdf5/File.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

/// Writes axes with their auxiliary coordinates, then arrays over them.
class Layout {
 public:
  /// `root` is borrowed and must outlive the object.
  explicit Layout(hdf5::Group& root) : root_(root) {}
  /// A text coordinate `axis.name`, and AXIS_NAME for every auxiliary coordinate. Throws base::Error for an empty axis.
  void add_axis(const AxisSchema& axis);
  /// An array over axes that were added. Attributes as the cube says; float64 gets NaN where nothing is written, a
  /// status cube the flag "not_scored" if it has one.
  hdf5::DataSet add_cube(const CubeSchema& cube, const std::vector<std::string>& axes);
  /// A whole array, written.
  template <class T>
  void write(const CubeSchema& cube, const std::vector<std::string>& axes, const std::vector<T>& values) {
    auto dataset = add_cube(cube, axes);
    dataset.write(dataset.all(), std::span<const T>(values));
  }
  bool has_axis(const std::string& axis) const { return axes_.contains(axis); }
  std::uint64_t length(const std::string& axis) const;

 private:
  struct Axis {
    hdf5::DataSet scale;
    std::vector<std::string> coordinates;
    std::uint64_t length = 0;
  };
  hdf5::Group& root_;
  std::map<std::string, Axis> axes_;
};

/// Name of an auxiliary coordinate in the file: "group_domain".
std::string coordinate_name(const std::string& axis, const std::string& coordinate);

/// The axis of the subjects in its two parts: priors (named "prior") and the rest.
AxisSchema prior_axis(const RawSchema& schema);
AxisSchema group_axis(const RawSchema& schema);

constexpr const char* prior_name = "prior";
constexpr const char* prior_prefix = "prior_";
constexpr const char* not_scored = "not_scored";

}  // namespace stereosweep::results
