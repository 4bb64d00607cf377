#include "base/Printable.hpp"

#include <gtest/gtest.h>

namespace stereosweep::base {
namespace {

TEST(Printable, LeavesATerminalAlone) {
  EXPECT_EQ(printable("a\tb\nc\u00e9\u4e2d"), "a\tb\nc\u00e9\u4e2d");
  EXPECT_EQ(printable("\x1b[2J\r\x7f\xc2\x9b\xff\xc3"), "\\x1b[2J\\x0d\\x7f\\x9b\\xff\\xc3");
}

TEST(Excerpt, CutsBetweenCharacters) {
  EXPECT_EQ(excerpt("caf\u00e9", 5), "caf\u00e9");
  EXPECT_EQ(excerpt("caf\u00e9s", 4), "caf...");
  EXPECT_EQ(excerpt("caf\u00e9s", 5), "caf\u00e9...");
}

}  // namespace
}  // namespace stereosweep::base
