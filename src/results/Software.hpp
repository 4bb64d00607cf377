// Which program wrote a file: version of the source, compiler, options.
#pragma once

#include <string>

namespace stereosweep::results {

/// "git describe" of the source that was built, "-dirty" where it had changes; the release number without git.
std::string software_version();
/// Compiler and its options: what of a build, beside the source, can move a last bit. The same after a plain rebuild.
std::string build_description();

}  // namespace stereosweep::results
