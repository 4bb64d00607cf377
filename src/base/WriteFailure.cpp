#include "base/WriteFailure.hpp"

#include <sys/statvfs.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace stereosweep::base {
namespace {

/// File systems without a fixed number of inodes report 0 of 0.
bool lacks_inodes(const std::filesystem::path& path) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  struct statvfs state {};
  return ::statvfs(directory.c_str(), &state) == 0 && state.f_files > 0 && state.f_favail == 0;
}

std::string advice_for(int error) {
  switch (error) {
    case ENOSPC:
      return "make room and run the same command again";
    case EDQUOT:
      return "make room within the quota of files and bytes (quota -s) and run the same command again";
    case EROFS:
      return "give another --output";
    case EIO:
      return "the disk or its server has failed: once it is well, run the same command again";
    case EFBIG:
      return "raise the limit (ulimit -f, or the file system's own) and run the same command again";
    default:
      return "";
  }
}

}  // namespace

WriteFailure explain_write_failure(const std::filesystem::path& path, int error) {
  if (error == ENOSPC && lacks_inodes(path)) {
    return {std::string(std::strerror(error)) + ": no inodes are left, the file system can hold no more files",
            "remove files there (df -i counts them) and run the same command again"};
  }
  return {std::strerror(error), advice_for(error)};
}

WriteFailure explain_write_failure(const std::filesystem::path& path, std::string_view report) {
  for (const int error : std::array{ENOSPC, EDQUOT, EROFS, EIO, EFBIG}) {
    if (report.find(std::strerror(error)) != std::string_view::npos) {
      const auto failure = explain_write_failure(path, error);
      const bool says_more = failure.why != std::strerror(error);
      return {std::string(report) + (says_more ? " (" + failure.why + ")" : ""), failure.advice};
    }
  }
  return {std::string(report), ""};
}

}  // namespace stereosweep::base
