#include "run/directory/Lease.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"
#include "run/directory/StatusFile.hpp"

namespace stereosweep::run {
namespace {

constexpr std::string_view epoch_prefix = "epoch.";
constexpr double patience_s = 10;
/// Slurm may have started the job again while a node that it has lost still runs it: KillWait (30 s) and
/// UnkillableStepTimeout (60 s), or until the ranks there miss the others (120 s), and some more.
constexpr double patience_when_requeued_s = 300;

std::uint64_t highest_epoch(const std::filesystem::path& directory) {
  std::uint64_t highest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(epoch_prefix)) {
      const auto number = base::parse_integer(std::string_view(name).substr(epoch_prefix.size()));
      highest = std::max(highest, static_cast<std::uint64_t>(number.value_or(0)));
    }
  }
  return highest;
}

/// Anything but a clear answer is asked for again: a file server that is restarted is no newer attempt.
bool is_there(const std::filesystem::path& file) {
  constexpr std::chrono::seconds patience{10};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::access(file.c_str(), F_OK) != 0) {
    const int reason = errno;
    if (reason == ENOENT) {
      return false;
    }
    base::fail_if(std::chrono::steady_clock::now() > deadline, "cannot tell whether " + file.string() + " is there",
                  std::strerror(reason), "once the file system answers, run the same command again");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

/// The end of the last pointer to it gives back the locks on it.
std::shared_ptr<const int> open_lock(const std::filesystem::path& path) {
  return base::open_descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
}

/// Returns false if the file system has no locks.
bool take_lock(int file, const std::filesystem::path& run_directory) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration<double>(base::seconds_from_environment(
                            "STEREOSWEEP_LOCK_TIMEOUT_S", base::is_requeued() ? patience_when_requeued_s : patience_s));
  bool told = false;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return false;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw base::Error(base::describe("another run works in " + run_directory.string(), holder_of(run_directory),
                                       "wait for it, stop it, or give another --output"),
                        base::is_requeued() ? base::ExitCode::resume : base::ExitCode::error);
    }
    if (!told) {
      base::log(base::LogLevel::info,
                run_directory.string() + " is in use (" + holder_of(run_directory) + "): waiting");
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace

Lease::Lease(const std::filesystem::path& run_directory) : directory_(run_directory / "journal") {
  std::error_code status;
  std::filesystem::create_directories(directory_, status);
  if (status) {
    base::fail_to("create", directory_, status.value());
  }
  lock_ = open_lock(directory_ / "lock");
  if (*lock_ < 0) {
    base::fail_to("write in", directory_, errno);
  }
  if (!take_lock(*lock_, run_directory)) {
    base::log(base::LogLevel::warning,
              "the file system of " + run_directory.string() + " has no locks: do not start two runs in one directory");
  }
  for (epoch_ = highest_epoch(directory_) + 1;; ++epoch_) {
    if (*base::open_descriptor(path(epoch_), O_WRONLY | O_CREAT | O_EXCL, 0644) >= 0) {
      break;
    }
    if (errno != EEXIST) {
      base::fail_to("create", path(epoch_), errno);
    }
  }
  for (std::uint64_t older = epoch_; older-- > 1 && ::unlink(path(older).c_str()) == 0;) {
  }
}

std::optional<bool> is_held(const std::filesystem::path& run_directory) {
  const auto file = base::open_descriptor(run_directory / "journal/lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const bool taken = ::flock(*file, LOCK_SH | LOCK_NB) == 0;  // of none: EBADF
  return taken || errno == EWOULDBLOCK ? std::optional(!taken) : std::nullopt;
}

std::filesystem::path Lease::path(std::uint64_t epoch) const {
  return directory_ / (std::string(epoch_prefix) + std::to_string(epoch));
}

void Lease::check() const {
  const auto run_directory = directory_.parent_path().string();
  base::fail_if(!is_there(directory_), "the run directory " + run_directory + " is gone",
                "it was moved or deleted while the run went on",
                "finished blocks are where its journal is: run again with that --output");
  base::fail_if(!is_there(path(epoch_)) || is_there(path(epoch_ + 1)),
                "a newer attempt has taken over " + run_directory, "this one must not write any more",
                "nothing to do: the newer one goes on");
}

bool Lease::is_overtaken() const {
  const bool own_is_gone = ::access(path(epoch_).c_str(), F_OK) != 0 && errno == ENOENT;
  return ::access(path(epoch_ + 1).c_str(), F_OK) == 0 || (own_is_gone && ::access(directory_.c_str(), F_OK) == 0);
}

std::shared_ptr<const int> lock_result(const std::filesystem::path& run_directory) {
  auto lock = open_lock(run_directory / "journal/export.lock");
  while (::flock(*lock, LOCK_EX) != 0 && errno == EINTR) {
  }
  return lock;
}

}  // namespace stereosweep::run
