// Several ranks in one process, each with a thread and a socket as in a run.
#include "parallel/Heartbeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace stereosweep::parallel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Seconds = std::chrono::duration<double>;

constexpr HeartbeatLimits limits{Seconds(0.4), Seconds(0.8)};
constexpr Seconds longest_test{20};

bool soon(const std::function<bool()>& condition) {
  const auto start = std::chrono::steady_clock::now();
  while (!condition() && std::chrono::steady_clock::now() - start < longest_test) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

/// Rank zero and `others` more; what they report and whether they left.
class HeartbeatTest : public ::testing::Test {
 protected:
  struct Rank {
    std::atomic<bool> left{false};
    std::mutex mutex;
    std::string report;
    std::unique_ptr<Heartbeat> heartbeat;
    std::string reported() {
      const std::lock_guard lock(mutex);
      return report;
    }
  };

  HeartbeatTest() {
    group.secret.fill(std::byte{7});
    group.hosts = {"here", "here", "here"};
  }

  void start(std::size_t rank, const HeartbeatGroup& known) { start(rank, known, std::make_unique<DatagramSocket>()); }
  void start(std::size_t rank, const HeartbeatGroup& known, std::unique_ptr<DatagramSocket> socket) {
    auto& one = ranks[rank];
    one.heartbeat = std::make_unique<Heartbeat>(static_cast<int>(rank), known, patience, std::move(socket),
                                                [&one] { one.left = true; });
    one.heartbeat->set_report([&one](const std::string& cause) {
      const std::lock_guard lock(one.mutex);
      one.report = cause;
    });
  }
  void start_zero() {
    auto socket = std::make_unique<DatagramSocket>();
    group.port = socket->port();
    start(0, group, std::move(socket));
  }
  void start_all() {
    start_zero();
    for (const std::size_t rank : {1U, 2U}) {
      start(rank, group);
      ASSERT_TRUE(ranks[rank].heartbeat->wait_for_answer(longest_test));
    }
  }

  HeartbeatGroup group;
  HeartbeatLimits patience = limits;
  std::array<Rank, 3> ranks;
};

TEST_F(HeartbeatTest, ASilentRankIsNamedAndTheOthersAreToldToStop) {
  start_all();
  ranks[2].heartbeat.reset();
  EXPECT_TRUE(soon([&] { return ranks[0].left && ranks[1].left; }));
  EXPECT_THAT(ranks[0].reported(), HasSubstr("rank 2 on here has not answered for 0.4 s"));
  EXPECT_THAT(ranks[1].reported(), IsEmpty());  // rank zero has said it
}

TEST_F(HeartbeatTest, ASilentRankZeroIsNoticed) {
  start_all();
  ranks[0].heartbeat.reset();
  EXPECT_TRUE(soon([&] { return ranks[1].left && ranks[2].left; }));
  EXPECT_THAT(ranks[2].reported(), HasSubstr("rank 0 on here has not answered for 0.8 s"));
}

TEST_F(HeartbeatTest, RanksWhoseMainThreadsAreBusyAreNotLost) {
  start_all();
  std::this_thread::sleep_for(4 * limits.others);
  for (auto& rank : ranks) {
    EXPECT_FALSE(rank.left);
  }
  EXPECT_EQ(ranks[0].heartbeat->find_early_end(), std::nullopt);
  EXPECT_TRUE(ranks[0].heartbeat->hears_all());
}

TEST_F(HeartbeatTest, NobodyLeavesBeforeTheLast) {
  start_all();
  std::atomic<int> away{0};
  std::vector<std::thread> leaving;
  for (const std::size_t rank : {0U, 1U}) {
    leaving.emplace_back([&, rank] {
      ranks[rank].heartbeat->wait_for_all_to_leave();
      ++away;
    });
  }
  std::this_thread::sleep_for(2 * limits.others);
  EXPECT_EQ(away, 0);
  ranks[2].heartbeat->wait_for_all_to_leave();
  for (auto& thread : leaving) {
    thread.join();
  }
  for (auto& rank : ranks) {
    EXPECT_THAT(rank.reported(), IsEmpty());
    EXPECT_FALSE(rank.left);
  }
}

TEST_F(HeartbeatTest, ARankThatHangsBeforeItLeavesIsNamed) {
  start_all();
  std::thread one([&] { ranks[1].heartbeat->wait_for_all_to_leave(); });
  ranks[2].heartbeat.reset();
  EXPECT_TRUE(soon([&] { return ranks[0].left.load(); }));
  EXPECT_THAT(ranks[0].reported(), HasSubstr("rank 2 on here has not answered"));
  ranks[0].heartbeat.reset();  // the process ends
  one.join();
}

TEST_F(HeartbeatTest, LastWordsSayWhyARankHasEnded) {
  start_all();
  ranks[1].heartbeat->say_last_words({base::ExitCode::resume, "signal TERM"});
  auto& zero = *ranks[0].heartbeat;
  EXPECT_EQ(zero.find_early_end().value_or(EarlyEnd{}).cause, "rank 1 on here: signal TERM");
  ranks[2].heartbeat->say_last_words({base::ExitCode::usage, "no such file"});
  const auto end = zero.find_early_end().value_or(EarlyEnd{});  // what ended by itself comes before who was ended
  EXPECT_EQ(end.cause, "rank 2 on here: no such file");
  EXPECT_EQ(end.exit_code, base::ExitCode::usage);
}

TEST_F(HeartbeatTest, AKilledProcessIsTheCauseOfWhatItsEndBrings) {
  auto socket = std::make_unique<DatagramSocket>();
  group.port = socket->port();
  const auto child = ::fork();
  if (child == 0) {
    Heartbeat heartbeat(1, group, limits, std::make_unique<DatagramSocket>(), [] { ::_exit(1); });
    static_cast<void>(heartbeat.wait_for_answer(longest_test));
    ::pause();
  }
  start(0, group, std::move(socket));
  start(2, group);
  ASSERT_TRUE(ranks[2].heartbeat->wait_for_answer(longest_test));
  EXPECT_TRUE(soon([&] { return ranks[0].heartbeat->hears_all(); }));
  EXPECT_EQ(ranks[0].heartbeat->find_early_end(), std::nullopt);
  ::kill(child, SIGKILL);
  EXPECT_TRUE(soon([&] { return ranks[0].heartbeat->find_early_end().has_value(); }));  // a corpse is dead, too
  ranks[2].heartbeat->say_last_words({base::ExitCode::resume, "signal TERM"});
  const auto end = ranks[0].heartbeat->find_early_end().value_or(EarlyEnd{});
  EXPECT_THAT(end.cause, HasSubstr("rank 1 on here has died (process " + std::to_string(child) + " "));
  EXPECT_EQ(end.exit_code, base::ExitCode::error);
  ::waitpid(child, nullptr, 0);
}

TEST_F(HeartbeatTest, RanksOfOtherNodesAreHeardThroughTheNetwork) {
  group.addresses = own_addresses();
  if (group.addresses.empty()) {
    GTEST_SKIP() << "this machine has no network";
  }
  group.hosts = {"here", "there", "there"};
  start_all();
  EXPECT_TRUE(ranks[0].heartbeat->hears_all());
  ranks[2].heartbeat.reset();
  EXPECT_TRUE(soon([&] { return ranks[0].left && ranks[1].left; }));
  EXPECT_THAT(ranks[0].reported(), HasSubstr("rank 2 on there has not answered"));
}

TEST_F(HeartbeatTest, ARankOfAnotherNodeThatDoesNotAnswerIsLost) {
  group.addresses = own_addresses();
  if (group.addresses.empty()) {
    GTEST_SKIP() << "this machine has no network";
  }
  group.hosts = {"here", "there", "elsewhere"};
  patience = {Seconds(60), Seconds(60)};
  start_all();
  auto& zero = *ranks[0].heartbeat;
  EXPECT_EQ(zero.find_early_end(), std::nullopt);
  EXPECT_THAT(zero.find_silent_ranks(), IsEmpty());
  ranks[2].heartbeat.reset();  // as a rank ends that was killed
  EXPECT_THAT(zero.find_silent_ranks(), ElementsAre(2U));
  const auto end = zero.find_early_end().value_or(EarlyEnd{});
  EXPECT_THAT(end.cause, HasSubstr("rank 2 on elsewhere is lost (it answers no more"));
  EXPECT_TRUE(end.lost);
  ranks[1].heartbeat->say_last_words({base::ExitCode::usage, "no such file"});  // what ended by itself comes first
  EXPECT_EQ(zero.find_early_end().value_or(EarlyEnd{}).cause, "rank 1 on there: no such file");
}

TEST_F(HeartbeatTest, WhoCannotBeReachedIsNotWatched) {
  start_zero();
  auto foreign = group;
  foreign.secret.fill(std::byte{8});
  start(1, foreign);
  EXPECT_FALSE(ranks[1].heartbeat->wait_for_answer(limits.others));
  std::this_thread::sleep_for(2 * limits.rank_zero);
  EXPECT_FALSE(ranks[0].left);
  EXPECT_FALSE(ranks[1].left);
  EXPECT_FALSE(ranks[0].heartbeat->hears_all());
  ranks[0].heartbeat->wait_for_all_to_leave();
  ranks[1].heartbeat->wait_for_all_to_leave();
}

TEST(RankProcessTest, ANumberThatWasGivenAgainIsAnotherProcess) {
  auto process = this_process();
  EXPECT_EQ(process.number, ::getpid());
  EXPECT_TRUE(is_alive(process));
  ++process.start;
  EXPECT_FALSE(is_alive(process));
}

}  // namespace
}  // namespace stereosweep::parallel
