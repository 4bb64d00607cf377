// Runs on 1, 2, 3 and 4 ranks.
#include "parallel/TensorGroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/Error.hpp"
#include "base/process/FaultInjection.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::parallel {
namespace {

using testing::HasSubstr;

class TensorGroupTest : public testing::Test {
 protected:
  MpiSession session;
  const Communicator& world = session.world();
};

// Numbers whose sum depends on the order in which they are added.
float number(int rank, std::size_t i) {
  return (1.0F + 0.37F * static_cast<float>(rank)) / (1.0F + static_cast<float>(i % 977)) - 0.01F;
}

TEST_F(TensorGroupTest, AddsInRankOrderAnySize) {
  TensorGroup group(world, world);
  for (const std::size_t size : {1UL, 63UL, 1UL << 18, (1UL << 18) + 1, 700'001UL, 5UL}) {
    std::vector<float> own(size);
    std::vector<float> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      own[i] = number(group.rank(), i);
      expected[i] = number(0, i);
      for (int rank = 1; rank < group.size(); ++rank) {
        expected[i] += number(rank, i);
      }
    }
    group.sum(own);
    EXPECT_EQ(std::memcmp(own.data(), expected.data(), size * sizeof(float)), 0) << size;
  }
}

TEST_F(TensorGroupTest, ManySmallSumsInARow) {
  TensorGroup group(world, world);
  for (int step = 0; step < 500; ++step) {
    std::vector<float> own(17, static_cast<float>(step + group.rank()));
    group.sum(own);
    const int ranks = group.size();
    ASSERT_EQ(own[16], static_cast<float>(step * ranks + ranks * (ranks - 1) / 2)) << step;
  }
}

TEST_F(TensorGroupTest, ABlockBeginsWhereTheLeaderBeginsIt) {
  TensorGroup group(world, world);
  if (group.rank() == 0) {
    for (int block = 0; block < 50; ++block) {
      group.begin_block();
    }
    group.close();
    return;
  }
  for (int block = 0; block < 50; ++block) {
    ASSERT_TRUE(group.follow());
  }
  EXPECT_FALSE(group.follow());
}

TEST_F(TensorGroupTest, BlocksFollowOnEachOther) {
  TensorGroup group(world, world);
  EXPECT_EQ(group.leader(), 0);
  for (int block = 1; block < 6; ++block) {
    std::this_thread::sleep_for(std::chrono::milliseconds(group.rank()));
    std::vector<float> sum{static_cast<float>(block)};
    group.finish_block();
    group.sum(sum);
    ASSERT_EQ(sum[0], static_cast<float>(block * group.size()));
  }
}

TEST_F(TensorGroupTest, AFailureReachesTheLeaderWithinTheSameBlock) {
  if (world.size() == 1) {
    return;
  }
  TensorGroup group(world, world);
  if (group.rank() == 0) {
    try {
      group.finish_block();
      ADD_FAILURE() << "rank 1 has not done it";
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1 read a wrong number"));
    }
  } else if (group.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // rank 0 is done long before
    group.fail("rank 1 read a wrong number");
  }
  world.all(true);
}

TEST_F(TensorGroupTest, AFailureWakesEveryoneWithItsCause) {
  TensorGroup group(world, world);
  if (group.rank() == 1 || group.size() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    group.fail("rank 1 ran out of memory");
  }
  if (group.rank() == 1) {
    return;
  }
  std::vector<float> own(3, 1.0F);
  try {
    group.sum(own);
    FAIL() << "the sum came back without rank 1";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 ran out of memory"));
  }
}

TEST_F(TensorGroupTest, PartsOfTheWorldAddUpOnTheirOwn) {
  const int part = world.rank() / 2;
  const auto half = world.split(part);
  TensorGroup group(world, half);
  std::vector<float> own(4, static_cast<float>(world.rank()));
  group.sum(own);
  const bool is_pair = part * 2 + 1 < world.size();
  EXPECT_EQ(own[0], static_cast<float>(is_pair ? part * 4 + 1 : part * 2));
  EXPECT_EQ(group.leader(), part * 2);
}

// Else the other groups wait for this one in the next step of all ranks, for ever.
TEST_F(TensorGroupTest, AFailureInOneGroupIsAnErrorInAll) {
  base::set_fault_rank(world.rank());
  const auto half = world.split(world.rank() / 2);
  base::set_faults(world.size() > 1 ? "step:attach_segment:1:throw:1" : "");
  try {
    const TensorGroup group(world, half);
    EXPECT_EQ(world.size(), 1) << "rank 1 has failed";
  } catch (const SharedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("injected fault at step"));
  }
  base::set_faults("");
  world.all(true);
}

}  // namespace
}  // namespace stereosweep::parallel
