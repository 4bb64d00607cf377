#include "results/TextTable.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stereosweep::results {
namespace {

TEST(TextTable, AlignsByCodePoints) {
  TextTable table({"group", "score"});
  table.add({"größte", "1.5"});
  table.add({"a", "-10.25"});
  EXPECT_EQ(table.text(), "group    score\n--------------\ngrößte     1.5\na       -10.25\n");
  EXPECT_THROW(table.add({"too short"}), std::logic_error);
}

TEST(TextTable, FormatsNumbers) {
  EXPECT_EQ(fixed(0.12345), "0.123");
  EXPECT_EQ(fixed(-0.0001), "0.000");
  EXPECT_EQ(fixed(-2.5, 1), "-2.5");
  EXPECT_EQ(fixed(NAN), "-");
  EXPECT_EQ(p_value(0.05), "0.050");
  EXPECT_EQ(p_value(1.234e-9), "1.2e-09");
  EXPECT_EQ(p_value(3e-290), "3.0e-290");
  EXPECT_EQ(p_value(0), "<1e-300");
  EXPECT_EQ(p_value(NAN), "-");
}

TEST(TextTable, ShortensBetweenCodePoints) {
  EXPECT_EQ(shortened("größte", 6), "größte");
  EXPECT_EQ(shortened("größte Gruppe", 5), "größ…");
}

}  // namespace
}  // namespace stereosweep::results
