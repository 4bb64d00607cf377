#include "base/process/Processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/process/Trial.hpp"

namespace stereosweep::base {
namespace {

/// A thread that a launcher has bound to the first of its processors gets the others for a while.
TEST(Processors, AreLentToAThreadAndTakenBack) {
  const std::vector<std::string> all = {own_processors()};
  const auto num_all = num_own_processors();
  unsigned first = 0;
  while ((static_cast<unsigned char>(all[0][first / 8]) >> (first % 8) & 1U) == 0) {
    ++first;
  }
  std::jthread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    const auto bound = own_processors();
    EXPECT_EQ(num_own_processors(), 1U);
    {
      const ProcessorLoan loan(all);
      EXPECT_EQ(own_processors(), all[0]);
      EXPECT_EQ(num_own_processors(), num_all);
      unsigned of_a_new_thread = 0;
      std::jthread([&] { of_a_new_thread = num_own_processors(); }).join();
      EXPECT_EQ(of_a_new_thread, num_all);
    }
    EXPECT_EQ(own_processors(), bound);
  }).join();
  EXPECT_EQ(own_processors(), all[0]);
}

TEST(Processors, ThatDoNotExistAreLeftOut) {
  const auto own = own_processors();
  const std::vector<std::string> more = {own + std::string(8, '\xff')};
  const ProcessorLoan loan(more);
  EXPECT_EQ(own_processors(), own);
}

TEST(Processors, ThreadsThatCannotBeStartedAreTold) {
  EXPECT_NO_THROW(require_threads(8));
  const auto cause =
      try_in_child([](const TrialStep&) { require_threads(1 << 20); }, {.processor_time = std::chrono::seconds(20),
                                                                        .wall_time = std::chrono::seconds(60),
                                                                        .memory = std::uint64_t{1} << 30U});
  EXPECT_NE(cause.find("Resource temporarily unavailable"), std::string::npos) << cause;
}

}  // namespace
}  // namespace stereosweep::base
