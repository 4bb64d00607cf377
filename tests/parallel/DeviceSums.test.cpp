// Sums over GPUs where a rank fails, with a stand-in for NCCL (support/FakeNccl.hpp). Runs on 2 and 3 ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/Error.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/NcclSum.hpp"
#include "parallel/TensorGroup.hpp"
#include "support/FakeNccl.hpp"

namespace stereosweep::parallel {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds patience{120};

class DeviceSumsTest : public testing::Test {
 protected:
  DeviceSumsTest() { group.emplace(world, world); }
  ~DeviceSumsTest() override {
    fake_nccl_error(0);
    world.all(true);
  }

  void add_up(std::vector<float>& numbers) { group->sum_on_device(numbers.data(), std::ssize(numbers), nullptr); }

  MpiSession session;
  const Communicator& world = session.world();
  std::optional<TensorGroup> group;
};

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(DeviceSumsTest, AddUpAndEndInGoodOrder) {
  const int aborts = fake_nccl_aborts();
  group->join_devices();
  for (int step = 0; step < 20; ++step) {
    std::vector<float> numbers(7, static_cast<float>(step + world.rank()));
    add_up(numbers);
    fake_stream_wait();
    const int ranks = world.size();
    ASSERT_EQ(numbers[6], static_cast<float>(step * ranks + ranks * (ranks - 1) / 2));
  }
  EXPECT_EQ(group->failure(), "");
  group.reset();
  EXPECT_EQ(fake_nccl_aborts(), aborts);
}

// The others have enqueued their sum and wait for the stream when rank 1 fails before it comes to its own.
TEST_F(DeviceSumsTest, ARankThatFailsFreesThoseWhoWaitForTheStream) {
  group->join_devices();
  if (world.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    group->fail("rank 1 ran out of memory");
    return;
  }
  std::vector<float> numbers(5, 1.0F);
  add_up(numbers);
  const auto start = std::chrono::steady_clock::now();
  fake_stream_wait();
  EXPECT_LT(std::chrono::steady_clock::now() - start, patience);
  EXPECT_THAT(group->failure(), HasSubstr("rank 1 ran out of memory")) << "the numbers are wrong";
  EXPECT_THAT(error_of([&] { add_up(numbers); }), HasSubstr("rank 1 ran out of memory"));
}

// What was added up before stays right; those who go on hear of the failure in the next sum.
TEST_F(DeviceSumsTest, ARankThatFailsBetweenSumsSpoilsNoneThatIsDone) {
  group->join_devices();
  std::vector<float> numbers(5, 1.0F);
  add_up(numbers);
  fake_stream_wait();
  EXPECT_EQ(numbers[0], static_cast<float>(world.size()));
  world.all(true);
  if (world.rank() == 1) {
    group->fail("rank 1 lost its file");
    return;
  }
  std::vector<float> more(5, 1.0F);
  const auto refused = error_of([&] {
    add_up(more);
    fake_stream_wait();
  });
  EXPECT_TRUE(refused.empty() || refused.find("rank 1 lost its file") != std::string::npos) << refused;
  EXPECT_THAT(group->failure(), HasSubstr("rank 1 lost its file"));
  EXPECT_EQ(numbers[4], static_cast<float>(world.size()));
}

// Nobody waits for a sum any more: the others end in good order, and the failure is known.
TEST_F(DeviceSumsTest, ARankThatFailsAfterTheLastSumHoldsUpNobody) {
  group->join_devices();
  std::vector<float> numbers(5, 2.0F);
  add_up(numbers);
  fake_stream_wait();
  world.all(true);
  if (world.rank() == 1) {
    group->fail("rank 1 could not write");
  }
  const auto start = std::chrono::steady_clock::now();
  while (group->failure().empty() && std::chrono::steady_clock::now() - start < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(group->failure(), HasSubstr("rank 1 could not write"));
  EXPECT_EQ(numbers[4], static_cast<float>(2 * world.size()));
}

TEST_F(DeviceSumsTest, ARankThatFailsBeforeItJoinsHoldsUpNobody) {
  if (world.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    group->fail("rank 1 cannot read its weights");
    return;
  }
  EXPECT_THAT(error_of([&] { group->join_devices(); }), HasSubstr("rank 1 cannot read its weights"));
}

TEST_F(DeviceSumsTest, WhatNcclReportsReachesAllRanks) {
  group->join_devices();
  world.all(true);
  if (world.rank() == 1) {
    fake_nccl_error(6);  // ncclRemoteError
  }
  const auto start = std::chrono::steady_clock::now();
  while (group->failure().empty() && std::chrono::steady_clock::now() - start < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(group->failure(), HasSubstr("NCCL has failed (remote process exited or there was a network error)"));
}

TEST_F(DeviceSumsTest, AlgorithmProtocolAndChannelsAreNamedUnlessTheUserNamesOthers) {
  group->join_devices();
  const auto description = nccl_description();
  EXPECT_THAT(description,
              HasSubstr(", NCCL_ALGO=Ring, NCCL_PROTO=Simple, NCCL_MIN_NCHANNELS=16, NCCL_MAX_NCHANNELS=16"));
  ::setenv("NCCL_ALGO", "Tree", 1);
  choose_nccl_order();
  EXPECT_THAT(nccl_description(), HasSubstr(", NCCL_ALGO=Tree, NCCL_PROTO=Simple"));
  ::setenv("NCCL_ALGO", "Ring", 1);
}

}  // namespace
}  // namespace stereosweep::parallel
