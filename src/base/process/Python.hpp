// The Python that belongs to this program.
#pragma once

#include <filesystem>
#include <string>

namespace stereosweep::base {

/// Whether a regular file may be executed.
bool can_be_run(const std::filesystem::path& path);
/// Where build/python, which env/setup.sh makes above this program's build/NAME/bin, is expected.
std::filesystem::path python_of_build();
/// $STEREOSWEEP_PYTHON; else python_of_build() where it is; else "".
std::string own_python();

}  // namespace stereosweep::base
