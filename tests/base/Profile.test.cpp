#include "base/process/Profile.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace stereosweep::base::profile {
namespace {

void pass(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

struct Row {
  std::string name;
  double seconds = 0;
  std::size_t count = 0;
};

/// The spans of the report; what else stands in it is no span with a count.
std::vector<Row> rows() {
  std::vector<Row> all;
  std::istringstream lines(report());
  for (std::string line; std::getline(lines, line);) {
    Row row;
    std::string unit, share, sign;
    if (std::istringstream(line) >> row.name >> row.seconds >> unit >> share >> sign >> row.count) {
      all.push_back(row);
    }
  }
  return all;
}

std::map<std::string, Row> by_name() {
  std::map<std::string, Row> all;
  for (const auto& row : rows()) {
    all[row.name] = row;
  }
  return all;
}

TEST(Profile, NothingIsCountedBeforeItIsEnabled) {
  { const Span span("before"); }
  EXPECT_TRUE(rows().empty());
}

TEST(Profile, ASpanIsCountedWithoutThoseInsideIt) {
  enable();
  const auto start = std::chrono::steady_clock::now();
  {
    const Span outer("outer");
    pass(20);
    for (int i = 0; i < 3; ++i) {
      const Span inner("inner");
      pass(20);
    }
  }
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  const auto found = by_name();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found.at("outer").count, 1);
  EXPECT_EQ(found.at("inner").count, 3);
  EXPECT_GE(found.at("inner").seconds, 0.06);
  EXPECT_GE(found.at("outer").seconds, 0.02);
  EXPECT_LE(found.at("outer").seconds + found.at("inner").seconds, whole.count());
  EXPECT_GE(rows().front().seconds, rows().back().seconds);
  EXPECT_NE(report().find("the rest"), std::string::npos);
}

TEST(Profile, WaitsForTheDeviceAtBothEnds) {
  enable();
  int waits = 0;
  wait_with([&] { ++waits; });
  { const Span span("one"); }
  wait_with({});
  EXPECT_EQ(waits, 2);
}

TEST(Profile, AThreadThatCountsApartIsListedApartAndWaitsForNoDevice) {
  enable();
  int waits = 0;
  wait_with([&] { ++waits; });
  std::thread([] {
    count_apart();
    const Span span("beside");
  }).join();
  wait_with({});
  EXPECT_EQ(waits, 0);
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_GT(report().find("beside  "), report().find("beside it, in other threads:"));
  EXPECT_GT(report().find("beside it, in other threads:"), report().find("the rest"));
}

TEST(Profile, ThreadsNestApart) {
  enable();
  const Span outer("outer");
  std::thread([] {
    const Span other("other");
    pass(5);
  }).join();
  EXPECT_GE(by_name().at("other").seconds, 0.005);
}

}  // namespace
}  // namespace stereosweep::base::profile
