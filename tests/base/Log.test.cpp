#include "base/Log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {
namespace {

namespace fs = std::filesystem;

/// What the number of an open file leads to.
std::string target_of(const std::string& number) {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/fd/" + number, ignored).string();
}

/// The number under which this process has a file open; "" for none.
std::string number_of(const fs::path& file) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    if (target_of(entry.path().filename()) == file) {
      return entry.path().filename();
    }
  }
  return "";
}

// Another thread may have read the log's number and not written yet: a file that is opened then must not get it.
TEST(LogTest, ANumberThatWasTheLogsIsNoOtherFiles) {
  const testing::TemporaryDirectory directory;
  const auto first = directory.path() / "first";
  const auto second = directory.path() / "second";
  set_log_file(first.string());
  const auto number = number_of(first);
  ASSERT_FALSE(number.empty());
  set_log_file(second.string());
  EXPECT_EQ(target_of(number), second);
  set_log_file("");
  EXPECT_EQ(target_of(number), "/dev/null");
  const int other = ::open((directory.path() / "other").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_NE(std::to_string(other), number);
  ::close(other);
  log(LogLevel::info, "a line for nobody");
  EXPECT_EQ(fs::file_size(first) + fs::file_size(second) + fs::file_size(directory.path() / "other"), 0U);
}

}  // namespace
}  // namespace stereosweep::base
