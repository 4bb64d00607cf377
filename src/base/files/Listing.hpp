// What lies in a folder, read without exceptions: folders change, or close themselves, while they are looked at.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace stereosweep::base {

/// As the system lists them; those that came before `error`, which says why others are missing.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code& error);
/// Also what lies in the folders below it, each behind its folder.
std::vector<std::filesystem::path> tree_of(const std::filesystem::path& folder, std::error_code& error);

}  // namespace stereosweep::base
