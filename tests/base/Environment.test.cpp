#include "base/process/Environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

constexpr const char* variable = "STEREOSWEEP_TEST_SECONDS";

TEST(Environment, SecondsArePositiveAndFitIntoATimer) {
  EXPECT_EQ(seconds_from_environment(variable, 7), 7);
  ::setenv(variable, "0.5", 1);
  EXPECT_EQ(seconds_from_environment(variable, 7), 0.5);
  ::setenv(variable, "1e300", 1);
  EXPECT_EQ(seconds_from_environment(variable, 7), static_cast<double>(longest_wait_s));
  for (const auto* text : {"0", "-1", "x", "inf"}) {
    ::setenv(variable, text, 1);
    EXPECT_THROW(seconds_from_environment(variable, 7), InputError) << text;
  }
  ::unsetenv(variable);
}

}  // namespace
}  // namespace stereosweep::base
