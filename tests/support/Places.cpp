#include "support/Places.hpp"

namespace stereosweep {

std::string source_directory() { return STEREOSWEEP_SOURCE_DIR; }

std::string program_path() { return STEREOSWEEP_PROGRAM; }

}  // namespace stereosweep
