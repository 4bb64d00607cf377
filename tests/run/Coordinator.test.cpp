// Runs on 8 ranks whose blocks sleep: every block is scored once. The times that it prints: tests/bench/README.md.
#include "run/ranks/Coordinator.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <ranges>
#include <thread>
#include <vector>

#include "base/Lists.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "run/ScriptedBlocks.hpp"
#include "support/TemporaryDirectory.hpp"

namespace {

std::atomic<int> messages_sent{0};   ///< by this rank
std::chrono::milliseconds stall{0};  ///< of this rank's main thread, once a second

}  // namespace

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm group,
              MPI_Request* request) {
  ++messages_sent;
  return PMPI_Isend(data, count, type, destination, tag, group, request);
}

int MPI_Improbe(int source, int tag, MPI_Comm group, int* found, MPI_Message* message, MPI_Status* status) {
  static auto last = std::chrono::steady_clock::now();
  if (stall.count() > 0 && std::chrono::steady_clock::now() - last > std::chrono::seconds(1)) {
    std::this_thread::sleep_for(stall);
    last = std::chrono::steady_clock::now();
  }
  return PMPI_Improbe(source, tag, group, found, message, status);
}

}  // extern "C"

namespace stereosweep::run {
namespace {

using std::chrono::milliseconds;

struct Done {
  std::uint64_t block = 0;
  int rank = 0;
  Clock::time_point begin;
  Clock::time_point end;
};

double seconds_between(Clock::time_point begin, Clock::time_point end) { return Seconds(end - begin).count(); }

class CoordinatorTest : public ::testing::Test {
 protected:
  /// Collective: blocks that sleep so long on this rank, scored by all of them; all that was done, on every rank, in
  /// the order of its ends.
  std::vector<Done> score(std::uint64_t num_blocks, milliseconds own_length) {
    std::vector<Done> own;
    const auto probe = std::make_shared<const testing::ChainProbe>(1, num_blocks);
    ScorerParts parts;
    parts.probe = probe;
    parts.make_engine = [&] {
      return std::make_unique<testing::ScriptedEngine>([&](const std::string& step) {
        if (step.starts_with("run ")) {
          const auto begin = Clock::now();
          std::this_thread::sleep_for(own_length);
          own.push_back({std::stoull(step.substr(4)), world.rank(), begin, Clock::now()});
        }
      });
    };
    SignalWatcher signals;
    signals.know_ranks(world);
    {
      Scorer scorer(parts);
      scorer.wait_until_ready();
      parallel::Messenger messenger(world);
      messages_sent = 0;
      const auto order = world.rank() == 0 ? lead(messenger, scorer, *probe, signals)
                                           : work_for_rank_zero(messenger, scorer, probe->blocks(), signals);
      EXPECT_EQ(order.exit_code, base::ExitCode::done) << order.cause;
    }
    return of_all_ranks(own);
  }

  std::vector<Done> of_all_ranks(const std::vector<Done>& own) const {
    auto all = base::joined(world.gather_everywhere(own));
    std::ranges::sort(all, {}, &Done::end);
    return all;
  }

  static void expect_each_block_once(const std::vector<Done>& all, std::uint64_t num_blocks) {
    std::vector<int> times(num_blocks, 0);
    for (const auto& done : all) {
      ++times.at(done.block);
    }
    EXPECT_EQ(std::ranges::count(times, 1), static_cast<std::ptrdiff_t>(num_blocks));
  }

  /// Of the middle of a run, the share of the ranks' time in which they worked on a block; without rank zero.
  double busy_share(const std::vector<Done>& all) const {
    const auto first = all[all.size() / 5].end;
    const auto last = all[all.size() * 4 / 5].end;
    double busy = 0;
    for (const auto& done : all) {
      if (done.rank > 0) {
        busy += std::max(0.0, seconds_between(std::max(first, done.begin), std::min(last, done.end)));
      }
    }
    return busy / seconds_between(first, last) / (world.size() - 1);
  }

  void print(const char* what, double value, const char* unit) const {
    if (world.rank() == 0) {
      std::printf("%s: %.4g %s\n", what, value, unit);
    }
  }

  parallel::MpiSession session;
  const parallel::Communicator& world = session.world();

 private:
  static StopOrder lead(parallel::Messenger& messenger, Scorer& scorer, const probes::Probe& probe,
                        const SignalWatcher& signals) {
    const testing::TemporaryDirectory directory;
    const Lease lease(directory.path());
    results::JournalWriter journal(directory.path(), {{}, "{}", "{}", "attempt"});
    RunStatus all;
    all.blocks_total = all.cells_total = probe.blocks().num_blocks();
    StatusFile status(directory.path(), all);
    BlocksLeft left(all.blocks_total);
    std::vector<int> leaders(static_cast<std::size_t>(messenger.size()));
    std::ranges::generate(leaders, [rank = 0]() mutable { return rank++; });
    return coordinate({messenger, scorer, probe, journal, lease, status, signals, leaders, 1, std::nullopt}, left)
        .order;
  }
};

TEST_F(CoordinatorTest, ShortBlocksShareAMessage) {
  const std::uint64_t num_blocks = 2000;
  expect_each_block_once(score(num_blocks, milliseconds(4)), num_blocks);
  if (world.rank() == 0) {
    const double messages = static_cast<double>(messages_sent) / static_cast<double>(num_blocks);
    print("messages that rank zero sends for a block of 4 ms", messages, "");
    EXPECT_LT(messages, 0.2);
  }
}

// STEREOSWEEP_TEST_BLOCKS: of a longer run, for the figures.
TEST_F(CoordinatorTest, SyncsOfTheJournalHoldUpNobody) {
  const auto num_blocks = static_cast<std::uint64_t>(
      base::parse_integer(base::text_from_environment("STEREOSWEEP_TEST_BLOCKS")).value_or(1000));
  const auto scored = [&](const char* what) {
    const auto begin = Clock::now();
    const auto all = score(num_blocks, milliseconds(20));
    const auto whole = seconds_between(begin, Clock::now());
    expect_each_block_once(all, num_blocks);
    print(what, 100 * busy_share(all), "% of the middle of a run");
    print("blocks a second of the whole", static_cast<double>(num_blocks) / whole, "");
  };
  scored("ranks busy, blocks of 20 ms");
  base::set_faults("journal_sync:*:delay=200");
  scored("the same with syncs of 200 ms");
  base::set_faults("");
}

TEST_F(CoordinatorTest, RanksHaveWorkWhileRankZeroIsHeldUp) {
  stall = milliseconds(world.rank() == 0 ? 500 : 0);
  const auto all = score(1500, milliseconds(20));
  stall = milliseconds(0);
  expect_each_block_once(all, 1500);
  print("ranks busy while rank zero stands still a third of the time", 100 * busy_share(all), "%");
}

TEST_F(CoordinatorTest, ASlowRankKeepsTheOthersWaitingForOneBlock) {
  const int slow = world.size() - 1;
  const milliseconds slow_length(200);
  const auto all = score(400, world.rank() == slow ? slow_length : slow_length / 10);
  expect_each_block_once(all, 400);
  std::map<int, Clock::time_point> ends;
  for (const auto& done : all) {
    ends[done.rank] = done.end;
  }
  ASSERT_EQ(ends.size(), static_cast<std::size_t>(world.size()));
  const auto idle = seconds_between(std::ranges::min(std::views::values(ends)), all.back().end);
  print("a rank is ten times slower: the others idle at the end, at most", idle / Seconds(slow_length).count(),
        "of its blocks");
}

}  // namespace
}  // namespace stereosweep::run
