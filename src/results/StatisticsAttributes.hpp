// What every statistics file says of itself and of the result that it was made of.
#pragma once

#include <string>

#include "hdf5/File.hpp"
#include "results/Reader.hpp"

namespace stereosweep::results {

/// Root attributes: conventions, schema "stereosweep-statistics/PROBE", software, and title, model, hashes, digest and
/// completeness of the result.
void write_statistics_attributes(hdf5::Group& root, const ResultFile& source, const std::string& probe);

}  // namespace stereosweep::results
