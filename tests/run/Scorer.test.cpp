#include "run/ranks/Scorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "run/ScriptedBlocks.hpp"

namespace stereosweep::run {
namespace {

using testing::ChainProbe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Script;
using testing::ScriptedEngine;

// What the threads did, in the order in which they began it.
class Events {
 public:
  void note(const std::string& event) {
    const std::lock_guard lock(mutex_);
    all_.push_back(event);
    changed_.notify_all();
  }
  /// Whether it came within a time in which it always comes.
  bool wait_for(const std::string& event) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return std::ranges::find(all_, event) != all_.end(); });
  }
  std::vector<std::string> starting_with(const std::string& step) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> some;
    std::ranges::copy_if(all_, std::back_inserter(some), [&](const auto& event) { return event.starts_with(step); });
    return some;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

class ScorerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Scorer> make(const Script& script, std::size_t rounds = 1) {
    ScorerParts parts;
    parts.probe = std::make_shared<ChainProbe>(rounds);
    parts.make_engine = [script] { return std::make_unique<ScriptedEngine>(script); };
    auto scorer = std::make_unique<Scorer>(std::move(parts));
    scorer->wait_until_ready();
    return scorer;
  }

  static Scored next_of(Scorer& scorer) {
    for (int tries = 0; tries < 2000; ++tries) {
      if (auto scored = scorer.poll()) {
        return *std::move(scored);
      }
      scorer.wait(std::chrono::milliseconds(10));
    }
    throw base::Error("no block was scored");
  }

  static double number_of(const Scored& scored) {
    base::ByteReader in(scored.payload);
    const auto raw = results::RawBlock::read(in, ChainProbe(1).schema(), 1);
    return std::get<std::vector<double>>(raw.columns.front()).front();
  }

  sweep::Block block(std::uint64_t index) const { return blocks_.block(index); }

  Events events;

 private:
  sweep::BlockPlan blocks_{sweep::Product({3}), 1};
};

TEST_F(ScorerTest, PlansTheNextBlockWhileOneRuns) {
  bool planned = false;
  const auto scorer = make([&](const std::string& step) {
    events.note(step);
    planned = step == "run 0" ? events.wait_for("plan 1") : planned;
  });
  scorer->submit(block(0));
  scorer->submit(block(1));
  EXPECT_EQ(number_of(next_of(*scorer)), 0);
  EXPECT_TRUE(planned);
  EXPECT_EQ(number_of(next_of(*scorer)), 1);
}

TEST_F(ScorerTest, ReadsABlockWhileTheNextOneRuns) {
  bool runs = false;
  const auto scorer = make([&](const std::string& step) {
    events.note(step);
    runs = step == "read 0" ? events.wait_for("run 1") : runs;
  });
  scorer->submit(block(0));
  scorer->submit(block(1));
  EXPECT_EQ(number_of(next_of(*scorer)), 0);
  EXPECT_TRUE(runs);
  EXPECT_EQ(number_of(next_of(*scorer)), 1);
}

TEST_F(ScorerTest, GivesEachBlockItsOwnCost) {
  const auto scorer = make([](const std::string& /*step*/) {});
  for (std::uint64_t index = 0; index < 3; ++index) {
    scorer->submit(block(index));
  }
  for (std::uint64_t index = 0; index < 3; ++index) {
    const auto scored = next_of(*scorer);
    EXPECT_EQ(scored.id.block_index, index);
    EXPECT_EQ(scored.id.cost.distinct_tokens, 10 + index);
    EXPECT_EQ(scored.failure, "");
  }
  EXPECT_TRUE(scorer->idle());
}

TEST_F(ScorerTest, RunsAllRoundsOfABlockBeforeTheNextBlock) {
  const auto scorer = make([&](const std::string& step) { events.note(step); }, 3);
  scorer->submit(block(0));
  scorer->submit(block(1));
  EXPECT_EQ(number_of(next_of(*scorer)), 0 + 10 + 20);
  const auto second = next_of(*scorer);
  EXPECT_EQ(number_of(second), 1 + 11 + 21);
  EXPECT_EQ(second.id.cost.distinct_tokens, 11U + 21 + 31);
  EXPECT_THAT(events.starting_with("run"), ElementsAre("run 0", "run 10", "run 20", "run 1", "run 11", "run 21"));
}

TEST_F(ScorerTest, TakesBackWhatDoesNotRunYet) {
  const auto scorer = make([&](const std::string& step) {
    events.note(step);
    if (step == "run 0") {
      EXPECT_TRUE(events.wait_for("go on"));
    }
  });
  scorer->submit(block(0));
  scorer->submit(block(1));
  scorer->submit(block(2));
  EXPECT_TRUE(events.wait_for("run 0"));
  EXPECT_TRUE(events.wait_for("plan 2"));
  EXPECT_FALSE(scorer->take_back(0));
  EXPECT_TRUE(scorer->take_back(1));
  EXPECT_FALSE(scorer->take_back(1));
  scorer->stop();
  EXPECT_FALSE(scorer->idle());
  events.note("go on");
  EXPECT_EQ(next_of(*scorer).id.block_index, 0U);
  EXPECT_TRUE(scorer->idle());
  EXPECT_THAT(events.starting_with("run"), ElementsAre("run 0"));
}

TEST_F(ScorerTest, AFailureIsItsBlocksAlone) {
  for (const std::string failing : {"plan 0", "run 0", "read 0"}) {
    const auto scorer = make([&](const std::string& step) {
      if (step == failing) {
        throw base::InputError("broken");
      }
    });
    scorer->submit(block(0));
    scorer->submit(block(1));
    const auto failed = next_of(*scorer);
    EXPECT_EQ(failed.id.block_index, 0U) << failing;
    EXPECT_THAT(failed.failure, HasSubstr("broken")) << failing;
    EXPECT_EQ(failed.failure_code, base::ExitCode::usage) << failing;
    EXPECT_EQ(number_of(next_of(*scorer)), 1) << failing;
  }
}

}  // namespace
}  // namespace stereosweep::run
