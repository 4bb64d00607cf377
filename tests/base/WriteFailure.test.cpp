#include "base/WriteFailure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {
namespace {

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
