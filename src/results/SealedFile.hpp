// Small binary files of a run that are sealed like results (results/Seal.hpp): whole and as written, or not used.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace stereosweep::results {

/// Replaces the file atomically, synced; only its owner may read it. Throws base::Error (full disk, ...).
void write_sealed(const std::filesystem::path& file, std::span<const std::byte> content);

/// The content; nothing where the file is absent, and with a warning where it is damaged or has no seal.
std::optional<std::vector<std::byte>> read_sealed(const std::filesystem::path& file);

}  // namespace stereosweep::results
