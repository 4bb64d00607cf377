#include "results/PendingFile.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/WriteFailure.hpp"
#include "results/Seal.hpp"

namespace stereosweep::results {

PendingFile::PendingFile(std::filesystem::path target)
    : target_(std::move(target)), path_(base::partial_path(target_)) {
  base::remove_stale_partials(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

PendingFile::~PendingFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void PendingFile::commit() {
  const auto fail = [&](const std::string& problem) {
    const auto failure = base::explain_write_failure(target_, errno);
    throw base::Error(base::describe(problem, failure.why, failure.advice));
  };
  append_seal(path_);
  if (std::rename(path_.c_str(), target_.c_str()) != 0) {
    fail("cannot rename '" + path_.string() + "' to '" + target_.string() + "'");
  }
  const auto parent = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
  const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    fail("cannot open the directory '" + parent.string() + "'");
  }
  const int synced = ::fsync(directory);
  const int reason = errno;
  ::close(directory);
  // EINVAL: file systems (some network ones) whose directories cannot be synced; the rename itself is done
  if (synced != 0 && reason != EINVAL) {
    errno = reason;
    fail("cannot sync the directory '" + parent.string() + "'");
  }
}

}  // namespace stereosweep::results
