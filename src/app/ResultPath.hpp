// A run directory or a result file, as `show` and `stats` take it.
#pragma once

#include <filesystem>

namespace stereosweep::app {

/// The exported file that `path` means: itself, or the one PROBE.h5 in a run directory (PROBE.vectors.h5 and
/// PROBE.stats.h5 are only meant where they are named). Throws InputError if there is
/// none (a run that was not exported yet) or more than one.
std::filesystem::path find_result(const std::filesystem::path& path);

}  // namespace stereosweep::app
