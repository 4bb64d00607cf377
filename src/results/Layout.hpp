// Where a schema's axes and cubes stand in a file: names, scales, attributes. Used by the export and by `stats`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  /// A whole array of numbers or flags, written.
  hdf5::DataSet write(const CubeSchema& cube, const std::vector<std::string>& axes, const std::vector<double>& values);
  bool has_axis(const std::string& axis) const { return axes_.contains(axis); }
  /// As it was added.
  const AxisSchema& axis(const std::string& name) const;

 private:
  struct Axis {
    hdf5::DataSet scale;
    AxisSchema schema;
  };
  hdf5::Group& root_;
  std::map<std::string, Axis> axes_;
};

/// What stands where a cube has no number: NaN, -1, the flag "not_scored", 0 for other bytes; nothing for texts.
std::optional<double> fill_of(const CubeSchema& cube);

/// Name of an auxiliary coordinate in the file: "group_domain".
std::string coordinate_name(const std::string& axis, const std::string& coordinate);

/// The axis of the subjects without priors.
AxisSchema group_axis(const RawSchema& schema);

/// All axes as a file has them: priors (named "prior"), where there are any, and the other subjects, then the rest.
std::vector<AxisSchema> file_axes(const RawSchema& schema);

constexpr const char* prior_name = "prior";
constexpr const char* prior_prefix = "prior_";
constexpr const char* not_scored = "not_scored";

// Axes of a file that may be damaged or hostile: no memory is asked for that the file cannot fill.

/// All functions throw base::Error with the reason alone; the caller names the file.
std::vector<std::string> read_texts(const hdf5::DataSet& dataset);

/// Refuses an array whose shape is larger than a file of `file_bytes` can hold.
hdf5::DataSet open_checked(const hdf5::Group& group, const std::string& name, std::uint64_t file_bytes);

/// An axis with its text coordinates (NAME_...), as Layout writes it.
AxisSchema read_axis(const hdf5::Group& root, const std::string& name, std::uint64_t file_bytes);

}  // namespace stereosweep::results
