#include "base/files/PendingFile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {

namespace {

namespace fs = std::filesystem;

class PendingFileTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const fs::path& folder_ = directory_.path();

  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(folder_), {}); }
  mode_t mode(const fs::path& path) const {
    struct stat info {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 0777;
  }
};

TEST_F(PendingFileTest, AppearsWhenItIsWholeOrLeavesNothing) {
  {
    PendingFile given_up(folder_ / "a");
    given_up.write("part");
    EXPECT_FALSE(fs::exists(folder_ / "a"));
  }
  EXPECT_EQ(count(), 0);
  PendingFile pending(folder_ / "a");
  pending.write("all ");
  pending.write("of it");
  pending.commit();
  EXPECT_EQ(read_file(folder_ / "a"), "all of it");
  EXPECT_EQ(count(), 1);
}

TEST_F(PendingFileTest, ALinkIsReplacedAndNotWrittenThrough) {
  write_file_atomically(folder_ / "precious", "mine");
  fs::create_symlink(folder_ / "precious", folder_ / "a");
  write_file_atomically(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "precious"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder_ / "a"));
}

TEST_F(PendingFileTest, WhatIsNobodyElsesCannotBeReadByOthers) {
  PendingFile pending(folder_ / "a", PendingFile::Readers::owner);
  EXPECT_EQ(mode(pending.path()), 0600U);
  pending.commit();
  EXPECT_EQ(mode(folder_ / "a"), 0600U);
}

// Whatever process number it has, in whatever namespace: a writer that lives holds a lock.
TEST_F(PendingFileTest, OfWritersThatAreGoneNothingStays) {
  const PendingFile live(folder_ / "live");
  const auto child = ::fork();
  if (child == 0) {
    PendingFile killed(folder_ / "killed");
    killed.write("part");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(count(), 2);
  PendingFile(folder_ / "next");
  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(fs::exists(live.path()));
}

TEST_F(PendingFileTest, FilesOfOtherMachinesGoWhenTheyAreADayOldAndOtherNamesNever) {
  const auto other = folder_ / "a.partial.0123456789abcdef.00000000000000000000000000000001";
  for (const auto& path : {other, folder_ / "notes.partial.4711", folder_ / "my.partial.file"}) {
    std::ofstream(path) << "text";
  }
  PendingFile(folder_ / "next");
  EXPECT_EQ(count(), 3);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  PendingFile(folder_ / "next");
  EXPECT_EQ(count(), 2);
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(PendingFileTest, AMissingFolderIsNamed) {
  EXPECT_THROW(PendingFile(folder_ / "none" / "a"), Error);
  EXPECT_THROW(sync_directory(folder_ / "none"), Error);
}

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WriteFailureTest, EveryReasonLeadsToARemedy) {
  const testing::TemporaryDirectory temporary;  // a file system that has inodes left
  const auto file = temporary.path() / "file";
  EXPECT_EQ(explain_write_failure(file, ENOSPC).why, "No space left on device");
  EXPECT_THAT(explain_write_failure(file, ENOSPC).advice, HasSubstr("make room"));
  EXPECT_THAT(explain_write_failure(file, EDQUOT).advice, HasSubstr("quota"));
  EXPECT_THAT(explain_write_failure(file, EROFS).advice, HasSubstr("--output"));
  EXPECT_THAT(explain_write_failure(file, EIO).advice, HasSubstr("disk"));
  EXPECT_THAT(explain_write_failure(file, EFBIG).advice, HasSubstr("ulimit -f"));
  EXPECT_EQ(explain_write_failure(file, EACCES).why, "Permission denied");
  EXPECT_THAT(explain_write_failure(file, EACCES).advice, IsEmpty());
}

TEST(WriteFailureTest, ReasonsAreFoundInALibrarysReport) {
  const auto failure = explain_write_failure("file", "write failed: Disk quota exceeded (122)");
  EXPECT_EQ(failure.why, "write failed: Disk quota exceeded (122)");
  EXPECT_THAT(failure.advice, HasSubstr("quota"));
  EXPECT_THAT(explain_write_failure("file", "no such attribute").advice, IsEmpty());
}

}  // namespace

}  // namespace stereosweep::base
