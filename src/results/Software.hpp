// Which program wrote a file: version of the source, compiler, options.
#pragma once

#include <string>

namespace stereosweep::results {

/// "git describe" of the source that was built, "-dirty" where it had changes; the release number without git.
std::string software_version();
/// Compiler, its options, build type.
std::string build_description();

}  // namespace stereosweep::results
