#include "base/process/Trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <vector>

namespace stereosweep::base {
namespace {

using ::testing::HasSubstr;

constexpr TrialLimits short_limits{std::chrono::seconds(1), std::chrono::seconds(2), std::size_t{64} << 20};

void burn(double seconds) {
  const auto start = std::clock();
  while (static_cast<double>(std::clock() - start) < seconds * CLOCKS_PER_SEC) {
  }
}

TEST(Trial, WorkThatEndsWellSaysNothingAndLeavesNothing) {
  int changed = 0;
  EXPECT_EQ(try_in_child([&](const TrialStep&) { changed = 1; }), "");
  EXPECT_EQ(changed, 0);
}

TEST(Trial, WhatWasThrownIsTheCause) {
  EXPECT_EQ(try_in_child([](const TrialStep&) { throw std::runtime_error("no such cube"); }), "no such cube");
}

TEST(Trial, CrashesAreNamed) {
  EXPECT_THAT(try_in_child([](const TrialStep&) { std::abort(); }), HasSubstr("crashes"));
  EXPECT_THAT(try_in_child([](const TrialStep&) { ::raise(SIGSEGV); }), HasSubstr("crashes"));
  EXPECT_THAT(try_in_child([](const TrialStep&) { ::_exit(4); }), HasSubstr("ends the program"));
}

TEST(Trial, EndlessWorkIsEnded) {
  EXPECT_THAT(try_in_child([](const TrialStep&) { burn(100); }, short_limits), HasSubstr("hangs"));
  EXPECT_THAT(try_in_child([](const TrialStep&) { ::pause(); }, short_limits), HasSubstr("hangs"));
}

TEST(Trial, LongWorkInStepsIsNot) {
  TrialLimits patient = short_limits;
  patient.wall_time = std::chrono::seconds(60);  // a busy machine is no fault
  EXPECT_EQ(try_in_child(
                [](const TrialStep& step) {
                  for (int part = 0; part < 4; ++part) {
                    burn(0.4);
                    step();
                  }
                },
                patient),
            "");
}

TEST(Trial, MemoryIsLimited) {
  const auto work = [](const TrialStep&) { std::vector<char>(std::size_t{1} << 30, 'x').back() = 'y'; };
  EXPECT_THAT(try_in_child(work, short_limits), HasSubstr("more than 64 MiB"));
}

}  // namespace
}  // namespace stereosweep::base
