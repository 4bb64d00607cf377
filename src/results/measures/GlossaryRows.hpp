// The text of the glossary's file; CMakeLists.txt makes its definition.
#pragma once

#include <string_view>

namespace stereosweep::results {

/// Lines of kind, name, title and definition, separated by tabs; the first names them.
std::string_view glossary_rows();

}  // namespace stereosweep::results
