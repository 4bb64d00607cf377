#include "base/files/PendingFile.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <regex>
#include <utility>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"

namespace stereosweep::base {

namespace {

constexpr std::string_view partial_mark = ".partial.";
constexpr std::string_view hexadecimal = "0123456789abcdef";
constexpr std::size_t random_digits = 16;
constexpr std::chrono::hours longest_write{24};

/// Where locks of processes are seen: everything that runs on this kernel, whatever container it is in.
const std::string& boot() {
  static const std::string name = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    std::erase(text, '-');
    return text.empty() || text.find_first_not_of(hexadecimal) != std::string::npos ? "0" : text;
  }();
  return name;
}

std::filesystem::path parent_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string random_name() {
  std::random_device random;
  std::string text;
  for (std::size_t i = 0; i < random_digits; ++i) {
    text += hexadecimal[random() % hexadecimal.size()];
  }
  return text;
}

/// NAME and BOOT of NAME.partial.RANDOM.BOOT; nothing for other names.
std::optional<std::pair<std::string, std::string>> parts_of_partial(const std::string& name) {
  static const std::regex pattern(R"(([^]*)\.partial\.[0-9a-f]{16}\.([0-9a-f]+))");
  std::smatch parts;
  return std::regex_match(name, parts, pattern) ? std::optional(std::pair(parts[1].str(), parts[2].str()))
                                                : std::nullopt;
}

void remove_if_stale(const std::filesystem::path& path) {
  const auto parts = parts_of_partial(path.filename().string());
  if (!parts) {
    return;
  }
  const auto file = open_descriptor(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const bool locked = ::flock(*file, LOCK_EX | LOCK_NB) == 0;
  const bool in_use = !locked && errno == EWOULDBLOCK;
  struct stat info {};
  const bool is_file = ::fstat(*file, &info) == 0 && S_ISREG(info.st_mode);
  const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime);
  if (is_file && !in_use && ((locked && parts->second == boot() && boot() != "0") || age > longest_write)) {
    ::unlink(path.c_str());
  }
}

/// Locks a file that was just made; false where somebody took it for a stale one in between.
bool hold(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return false;
  }
  struct stat info {};
  return ::fstat(file, &info) != 0 || info.st_nlink > 0;
}

/// File systems without a fixed number of inodes report 0 of 0.
bool lacks_inodes(const std::filesystem::path& path) {
  struct statvfs state {};
  return ::statvfs(parent_of(path).c_str(), &state) == 0 && state.f_files > 0 && state.f_favail == 0;
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

PendingFile::PendingFile(std::filesystem::path target, Readers readers) : target_(std::move(target)) {
  std::error_code ignored;
  std::ranges::for_each(entries_of(parent_of(target_), ignored), remove_if_stale);
  const mode_t mode = readers == Readers::owner ? 0600 : 0644;
  while (true) {
    path_ = target_.string() + std::string(partial_mark) + random_name() + "." + boot();
    handle_ = open_descriptor(path_, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (*handle_ < 0 && errno != EEXIST) {
      fail_to("create", path_, errno);
    }
    if (*handle_ >= 0 && hold(*handle_)) {
      return;
    }
  }
}

PendingFile::~PendingFile() {
  ::unlink(path_.c_str());  // nothing there once it is committed
}

void PendingFile::write(std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(*handle_, content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      fail_to("write", path_, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void PendingFile::commit() {
  sync_content();
  show();
  sync_directory(parent_of(target_));
}

void PendingFile::show() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) {
    fail_to("rename to", target_, errno);
  }
}

void PendingFile::sync() {
  sync_content();
  sync_directory(parent_of(target_));
}

void PendingFile::sync_content() {
  if (::fsync(*handle_) != 0) {
    fail_to("fsync", path_, errno);
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  PendingFile pending(path);
  pending.write(content);
  pending.commit();
}

std::string final_name(const std::string& name) {
  const auto parts = parts_of_partial(name);
  return parts ? parts->first : name;
}

void sync_directory(const std::filesystem::path& directory) {
  const auto handle = open_descriptor(directory, O_RDONLY | O_DIRECTORY);
  if (*handle < 0 || (::fsync(*handle) != 0 && errno != EINVAL)) {
    fail_to("sync the directory", directory, errno);
  }
}

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

void fail_to(std::string_view action, const std::filesystem::path& path, int error) {
  const auto failure = explain_write_failure(path, error);
  fail("cannot " + std::string(action) + " " + path.string(), failure.why, failure.advice);
}

}  // namespace stereosweep::base
