// Where the tests find the source tree and the program. One file knows the paths, so that the others compile to the
// same objects in every clone.
#pragma once

#include <string>

namespace stereosweep {

/// Absolute path of the source tree.
std::string source_directory();
/// Absolute path of build/*/bin/stereosweep.
std::string program_path();

}  // namespace stereosweep
