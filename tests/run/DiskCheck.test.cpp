#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/Error.hpp"
#include "run/directory/RunDirectory.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr OutputSize five_and_eight{5'000'000, 8'000'000, 0};

TEST(DiskCheckTest, SaysNothingWhereJournalAndFileFit) {
  EXPECT_EQ(check_space("results/a", five_and_eight, 13'000'000), "");
  EXPECT_EQ(check_space("results/a", five_and_eight, std::numeric_limits<std::uint64_t>::max()), "");
  EXPECT_EQ(check_space("results/a", {0, 0, 0}, 0), "");
}

TEST(DiskCheckTest, WarnsWithNumbersWhereTheFileMayNotFit) {
  for (const std::uint64_t free : {5'000'000, 12'999'999}) {
    EXPECT_THAT(check_space("results/a", five_and_eight, free),
                AllOf(HasSubstr("results/a"), HasSubstr("5.0 MB in the journal"), HasSubstr("up to 8.0 MB")));
  }
}

TEST(DiskCheckTest, RefusesWhatCannotFit) {
  EXPECT_THAT([] { check_space("results/a", five_and_eight, 4'999'999); },
              ::testing::ThrowsMessage<base::Error>(
                  AllOf(HasSubstr("do not fit the disk"), HasSubstr("results/a"), HasSubstr("5.0 MB in the journal"))));
}

TEST(DiskCheckTest, CountsFilesOfARound) {
  const OutputSize size{2'000'000, 8'000'000, 4'000'000};
  EXPECT_EQ(check_space("results/a", size, 14'000'000), "");
  EXPECT_THAT([&] { check_space("results/a", size, 5'999'999); },
              ::testing::ThrowsMessage<base::Error>(
                  AllOf(HasSubstr("do not fit the disk"), HasSubstr("2.0 MB in the journal, 4.0 MB in files"))));
}

TEST(DiskCheckTest, AsksTheDiskThatHoldsTheFolder) {
  const testing::TemporaryDirectory directory;
  const auto free = free_space(directory.path());
  EXPECT_GT(free, 0U);
  EXPECT_LT(free, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(free_space(directory / "is not there"), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace stereosweep::run
