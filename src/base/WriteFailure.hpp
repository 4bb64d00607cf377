// Why a file could not be written, in words that lead to a remedy.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stereosweep::base {

/// The parts of a message that follow "cannot write FILE".
struct WriteFailure {
  std::string why;
  std::string advice;  ///< empty where nothing better is known than the reason itself
};

/// `error` is an errno. Says whether a full file system lacks space or inodes: only `df -i` shows the latter.
WriteFailure explain_write_failure(const std::filesystem::path& path, int error);

/// The same for the text of a library's error report in which the system's reason stands.
WriteFailure explain_write_failure(const std::filesystem::path& path, std::string_view report);

}  // namespace stereosweep::base
