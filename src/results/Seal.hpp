// The last 128 bytes of every file we write: SHA-256 of what stands before them, checked before libhdf5 sees the file.
// HDF5 and netCDF readers do not look behind the end that the file's own header names; a program that changes the file
// through libhdf5 cuts the seal off.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/files/PendingFile.hpp"

namespace stereosweep::results {

enum class Seal { intact, none };

inline constexpr std::size_t seal_bytes = 128;

/// Seals a file that is complete and, where another library wrote it, closed. Throws base::Error (full disk, ...).
void append_seal(base::PendingFile& pending);

/// Seals it and puts it under its name. Throws base::Error.
void commit_sealed(base::PendingFile& pending);

/// Reads the whole file. Throws InputError if it cannot be read, is no regular file, or its seal does not fit it.
Seal check_seal(const std::filesystem::path& path);

/// Replaces the file atomically, synced; only its owner may read it. Throws base::Error (full disk, ...).
void write_sealed(const std::filesystem::path& file, std::span<const std::byte> content);

/// The content; nothing where the file is absent, and with a warning where it is damaged or has no seal.
std::optional<std::vector<std::byte>> read_sealed(const std::filesystem::path& file);

}  // namespace stereosweep::results
