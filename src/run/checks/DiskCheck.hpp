// Whether what a run has still to write fits its disk, before its blocks are scored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace stereosweep::run {

/// What a stage has still to write. Bytes; texts are not counted.
struct OutputSize {
  std::uint64_t journal = 0;   ///< of the blocks that are left
  std::uint64_t exported = 0;  ///< the whole HDF5 file before compression
  std::uint64_t of_round = 0;  ///< files that a round has for a moment
};

/// What this user may still write below `folder`, in bytes; the largest number where that is unknown. Quotas are not
/// seen.
std::uint64_t free_space(const std::filesystem::path& folder);

/// Empty, or a warning: the journal fits, the file beside it may not. Throws Error with the numbers where the journal
/// itself does not fit.
std::string check_space(const std::filesystem::path& folder, const OutputSize& size, std::uint64_t free);

}  // namespace stereosweep::run
