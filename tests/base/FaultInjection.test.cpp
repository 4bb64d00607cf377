#include "base/process/FaultInjection.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/Error.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {
namespace {

TEST(FaultInjectionTest, ActsOnThePassThatWasAskedFor) {
  set_faults("a:2:eio,b:*:short,c:1:throw:3");
  EXPECT_EQ(active_faults(), "a:2:eio,b:*:short,c:1:throw:3");
  EXPECT_EQ(inject_fault("a"), 0);
  EXPECT_EQ(inject_fault("a"), EIO);
  EXPECT_EQ(inject_fault("a"), 0);
  EXPECT_EQ(inject_fault("b"), short_write);
  EXPECT_EQ(inject_fault("c"), 0);  // another rank's
  set_fault_rank(3);
  set_faults("c:1:throw:3");
  EXPECT_THROW(inject_fault("c"), Error);
  set_fault_rank(0);
  set_faults("step:open_store:2:eio:0");
  EXPECT_EQ(inject_fault("step"), 0);
  EXPECT_EQ(inject_fault("step:open_store"), 0);
  EXPECT_EQ(inject_fault("step:open_store"), EIO);
  set_faults("");
  EXPECT_EQ(active_faults(), "");
}

TEST(FaultInjectionTest, AHoldEndsWithItsFileOrTheRun) {
  const testing::TemporaryDirectory directory;
  for (const bool file_comes : {false, true}) {  // what is set anew holds again
    set_faults("a:1:hold=" + (directory / "go").string());
    std::atomic<bool> passed = false;
    std::jthread held([&] {
      EXPECT_EQ(inject_fault("a"), 0);
      passed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(passed);
    if (file_comes) {
      std::ofstream(directory / "go").close();
    } else {
      end_holds();
    }
    held.join();
    EXPECT_TRUE(passed);
  }
  set_faults("");
}

TEST(FaultInjectionTest, WhatIsMalformedIsRefusedAtOnce) {
  for (const char* bad : {"a", "a:1", "a:0:eio", "a:x:eio", "a:1:explode", "a:1:delay=", "a:1:delay=x",
                          "a:1:hold=", "a:1:eio:-1", "a:1:eio:0:0", "a:1:eio,", "a:b", ":1:eio:0:0", "1:eio", ":"}) {
    EXPECT_THROW(set_faults(bad), InputError) << bad;
  }
  EXPECT_EQ(active_faults(), "");
}

}  // namespace
}  // namespace stereosweep::base
