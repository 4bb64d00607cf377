// Tells ELMo's model directories from Hugging Face's, for all rooms that must know: an options file and HDF5 weights.
#pragma once

#include <string>

#include "base/File.hpp"

namespace stereosweep::base {

/// Whether the directory is an ELMo model: no config.json, and options.json or *_options.json.
bool is_elmo(const FileSet& files);

/// The name of the one options file. Throws InputError where there are several.
std::string find_elmo_options(const FileSet& files);

/// The name of the one weights file (weights.hdf5 or *_weights.hdf5). Throws InputError where there is none or several.
std::string find_elmo_weights(const FileSet& files);

}  // namespace stereosweep::base
