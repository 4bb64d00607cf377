// What lies in a folder, and what a path is, asked without exceptions: folders change, or close themselves, while they
// are looked at.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace stereosweep::base {

/// As the system lists them; those that came before `error`, which says why others are missing.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error);
/// Also what lies in the folders below it, each behind its folder.
std::vector<std::filesystem::path> tree_of(const std::filesystem::path& folder, std::error_code& error);

/// Links are followed; of a path of which nothing can be said no question holds.
std::filesystem::file_status status_of(const std::filesystem::path& path);
inline bool is_there(const std::filesystem::path& path) { return exists(status_of(path)); }
inline bool is_folder(const std::filesystem::path& path) { return is_directory(status_of(path)); }
inline bool is_file(const std::filesystem::path& path) { return is_regular_file(status_of(path)); }

}  // namespace stereosweep::base
