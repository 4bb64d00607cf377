#include "base/Error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

namespace stereosweep::base {
namespace {

TEST(Error, WantOfMemoryAndOfThreadsHasAdvice) {
  EXPECT_NE(message_of(std::bad_alloc()).find("not enough memory"), std::string::npos);
  const std::system_error refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_NE(message_of(refused).find("ulimit -u -v -s"), std::string::npos);
  EXPECT_EQ(message_of(std::system_error(std::make_error_code(std::errc::io_error), "x")), "x: Input/output error");
  EXPECT_EQ(message_of(Error("plain")), "plain");
  EXPECT_EQ(exit_code_of(Error("x", ExitCode::resume)), ExitCode::resume);
  EXPECT_EQ(exit_code_of(InputError("x")), ExitCode::usage);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), ExitCode::error);
}

TEST(Error, AFileThatCannotBeLookedAtIsNamed) {
  const std::filesystem::filesystem_error loop("status", "a/job.yaml",
                                               std::make_error_code(std::errc::too_many_symbolic_link_levels));
  EXPECT_EQ(message_of(loop), "cannot look at a/job.yaml (Too many levels of symbolic links)");
  EXPECT_EQ(exit_code_of(loop), ExitCode::usage);
  const std::filesystem::filesystem_error too_long("status", "c", std::make_error_code(std::errc::filename_too_long));
  EXPECT_EQ(exit_code_of(too_long), ExitCode::usage);
  const std::filesystem::filesystem_error denied("status", "b", std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(message_of(denied), "cannot look at b (Permission denied)");
  EXPECT_EQ(exit_code_of(denied), ExitCode::error);
}

TEST(Error, MessageIsProblemWhySuggestion) {
  EXPECT_EQ(describe("unknown key 'grups'", "axes has no such key", "did you mean 'groups'?"),
            "unknown key 'grups' (axes has no such key). Did you mean 'groups'?");
  EXPECT_EQ(describe("no groups", ""), "no groups");
  EXPECT_LT(describe(std::string(1000000, 'a'), std::string(1000000, 'b')).size(), 5000u);
}

TEST(Error, InputIsAUsageError) {
  EXPECT_EQ(InputError("x").exit_code(), ExitCode::usage);
  EXPECT_EQ(Error("x").exit_code(), ExitCode::error);
}

TEST(Problems, OneReportNamesThemAllWithTheirPlaces) {
  Problems problems;
  EXPECT_NO_THROW(problems.raise_if_any("job.yaml"));
  problems.add({"job.yaml", 3, "axes.groups"}, "no value", "a list is expected");
  problems.add({"", 0, "seed"}, "-1 is out of range", "0 to 2^63-1");
  try {
    problems.raise_if_any("2 problems");
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "2 problems\n  job.yaml:3:axes.groups: no value (a list is expected)\n"
                 "  seed: -1 is out of range (0 to 2^63-1)");
  }
}

}  // namespace
}  // namespace stereosweep::base
