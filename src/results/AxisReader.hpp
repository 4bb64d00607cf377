// Axes of a file that may be damaged or hostile: no memory is asked for that the file cannot fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdf5/File.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::results {

/// All functions throw base::Error with the reason alone; the caller names the file.
std::vector<std::string> read_texts(const hdf5::DataSet& dataset);

/// Refuses an array whose shape is larger than a file of `file_bytes` can hold.
hdf5::DataSet open_checked(const hdf5::Group& group, const std::string& name, std::uint64_t file_bytes);

/// An axis with its text coordinates (NAME_...), as Layout writes it.
AxisSchema read_axis(const hdf5::Group& root, const std::string& name, std::uint64_t file_bytes);

}  // namespace stereosweep::results
