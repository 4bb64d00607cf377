#include "base/CallGuard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/Trial.hpp"

namespace stereosweep::base {
namespace {

using std::chrono::seconds;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

void burn(double processor_seconds) {
  const auto start = std::clock();
  while (static_cast<double>(std::clock() - start) < processor_seconds * CLOCKS_PER_SEC) {
  }
}

CallGuard guard(int limit = 1) { return {"cannot read 'a.h5'", "write it anew", seconds(limit)}; }

/// Deeper than any stack.
int descend(int depth) {
  volatile char frame[4096] = {};
  frame[depth % 4096] = 1;
  return depth < 0 ? frame[0] : descend(depth + 1) + frame[1];
}

TEST(CallGuardDeathTest, ACrashEndsWithTheMessage) {
  const auto crash = [](auto&& fault) {
    const auto guarded = guard();
    fault();
  };
  const std::string start = "stereosweep: cannot read 'a.h5' \\(it crashes: ";
  EXPECT_EXIT(crash([] { ::raise(SIGSEGV); }), ExitedWithCode(2), start + "Segmentation fault\\) write it anew");
  EXPECT_EXIT(crash([] { std::abort(); }), ExitedWithCode(2), start + "Aborted");
  EXPECT_EXIT(crash([] { descend(0); }), ExitedWithCode(2), start + "Segmentation fault");
}

TEST(CallGuardDeathTest, EndlessWorkEndsWithTheMessage) {
  const auto hang = [] {
    const auto guarded = guard();
    burn(60);
  };
  EXPECT_EXIT(hang(), ExitedWithCode(2), "cannot read 'a.h5' \\(it hangs\\) write it anew");
}

TEST(CallGuardDeathTest, ACrashOutsideIsNotBlamedOnIt) {
  const auto after = [] {
    { const auto guarded = guard(); }
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(after(), KilledBySignal(SIGSEGV), "");
  const auto beside = [] {
    const auto guarded = guard();
    std::thread([] { ::raise(SIGSEGV); }).join();
  };
  EXPECT_EXIT(beside(), KilledBySignal(SIGSEGV), "");
}

TEST(CallGuard, LongWorkInStepsIsNoHang) {
  const auto outer = guard();
  for (int step = 0; step < 2; ++step) {
    const auto inner = guard();
    burn(0.5);
  }
  burn(0.5);
}

TEST(CallGuard, WaitingAndWorkAfterwardsDoNotCount) {
  {
    const auto guarded = guard();
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  }
  burn(1.1);
}

TEST(CallGuard, ATrialTellsItself) {
  EXPECT_THAT(try_in_child([](const TrialStep&) {
                const auto guarded = guard();
                std::abort();
              }),
              HasSubstr("it crashes: Aborted"));
}

}  // namespace
}  // namespace stereosweep::base
