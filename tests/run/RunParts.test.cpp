// The parts of a run that need no second rank; whole runs are tested in tests/integration/test_run_*.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/process/Environment.hpp"
#include "probes/association/Association.hpp"
#include "run/ScriptedBlocks.hpp"
#include "run/Settings.hpp"
#include "run/directory/Lease.hpp"
#include "run/directory/StatusFile.hpp"
#include "run/ranks/Coordinator.hpp"
#include "run/ranks/Messages.hpp"
#include "run/ranks/Progress.hpp"
#include "run/ranks/Scorer.hpp"
#include "run/ranks/Signals.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;
using Next = SignalWatcher::Next;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class DirectoryTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory temporary;
  const fs::path& directory = temporary.path();
};

TEST(BlocksLeftTest, GivesEveryBlockOnceInOrder) {
  BlocksLeft left(5);
  EXPECT_TRUE(left.mark_done(1));
  EXPECT_FALSE(left.mark_done(1));
  EXPECT_EQ(left.next(), 0U);
  EXPECT_EQ(left.next(), 2U);
  left.mark_done(3);
  EXPECT_EQ(left.next(), 4U);
  EXPECT_EQ(left.next(), 5U);
  EXPECT_EQ(left.next(), 5U);
  EXPECT_EQ(left.num_done(), 2U);
}

TEST(BlocksLeftTest, GivesABlockThatWasPutBackAgain) {
  BlocksLeft left(2);
  EXPECT_EQ(left.next(), 0U);
  left.put_back(0);
  EXPECT_EQ(left.next(), 0U);
  EXPECT_EQ(left.next(), 1U);
  EXPECT_EQ(left.next(), 2U);
  EXPECT_FALSE(left.any_left());
  left.put_back(0);
  EXPECT_TRUE(left.any_left());
  EXPECT_EQ(left.next(), 0U);
  EXPECT_EQ(left.next(), 2U);
}

TEST(BlocksLeftTest, GivesOnlyBlocksThatAreWanted) {
  BlocksLeft left(6);
  left.mark_done(2);
  left.want_only({5, 2, 0});
  EXPECT_EQ(left.size(), 3U);  // one is done
  EXPECT_EQ(left.next(), 0U);
  EXPECT_EQ(left.next(), 5U);
  EXPECT_FALSE(left.any_left());
  left.mark_done(0);
  left.mark_done(5);
  EXPECT_EQ(left.num_done(), left.size());
  left.want_only({0, 1});  // the next round
  EXPECT_EQ(left.size(), 4U);
  EXPECT_FALSE(left.is_wanted(5));
  EXPECT_EQ(left.next(), 1U);
  EXPECT_EQ(left.next(), 6U);
}

TEST(MessagesTest, MessagesReadBack) {
  Scored scored;
  scored.id = {base::sha256("key"), 7, 16, {1, 2, 3, 4}};
  scored.payload = {std::byte{1}, std::byte{2}, std::byte{3}};
  scored.seconds = 0.25;
  const auto read = base::unpacked<Scored>(base::packed(scored));
  EXPECT_EQ(read.id.key, scored.id.key);
  EXPECT_EQ(read.id.block_index, 7U);
  EXPECT_EQ(read.id.num_contexts, 16U);
  EXPECT_EQ(read.payload, scored.payload);
  EXPECT_EQ(read.id.cost, scored.id.cost);
  EXPECT_EQ(read.seconds, 0.25);
  const auto order = base::unpacked<StopOrder>(base::packed(StopOrder{base::ExitCode::resume, "signal TERM"}));
  EXPECT_EQ(order.exit_code, base::ExitCode::resume);
  EXPECT_EQ(order.cause, "signal TERM");
  EXPECT_THROW(base::unpacked<Scored>(std::vector<std::byte>(10)), base::Error);
}

TEST_F(DirectoryTest, StatusReadsBack) {
  EXPECT_FALSE(read_status(directory).has_value());
  RunStatus status;
  status.name = "a \"name\"";
  StatusFile file(directory, status);
  file.update([](RunStatus& now) {
    now.state = "failed";
    now.cause = "disk full \xff";  // not UTF-8: must not keep the status from being written
    now.blocks_total = 12;
    now.cells_done = 3;
  });
  const auto read = read_status(directory);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, "a \"name\"");
  EXPECT_EQ(read->state, "failed");
  EXPECT_THAT(read->cause, HasSubstr("disk full"));
  EXPECT_EQ(read->blocks_total, 12U);
  EXPECT_EQ(read->cells_done, 3U);
  EXPECT_EQ(read->process, ::getpid());
}

TEST_F(DirectoryTest, TheEndOfARunIsNotUndone) {
  StatusFile file(directory, RunStatus());
  file.update([](RunStatus& now) { now.enter("running"); });
  EXPECT_EQ(read_status(directory)->state, "running");
  for (const std::string end : {"stopped", "lost", "failed", "done"}) {
    file.update([&](RunStatus& now) { now.state = end; });
    file.update([](RunStatus& now) { now.enter("exporting"); });
    EXPECT_EQ(read_status(directory)->state, end);
  }
}

TEST_F(DirectoryTest, ForeignStatusIsBadInput) {
  for (const std::string text : {"{}", "[1]", "{\"schema\": \"stereosweep-status/1\"}", "no json"}) {
    std::ofstream(directory / "status.json") << text;
    EXPECT_THROW(read_status(directory), base::InputError) << text;
  }
}

TEST_F(DirectoryTest, LeaseRefusesASecondHolderAndGivesWayToANewerEpoch) {
  ::setenv("STEREOSWEEP_LOCK_TIMEOUT_S", "0.1", 1);
  EXPECT_EQ(is_held(directory), std::nullopt);
  {
    const Lease first(directory);
    EXPECT_EQ(is_held(directory), true);
    EXPECT_NO_THROW(first.check());
    try {
      const Lease second(directory);
      FAIL() << "two holders";
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("another run works in"));
    }
    EXPECT_NO_THROW(first.check());
    std::ofstream(directory / "journal/epoch.2");
    EXPECT_THROW(first.check(), base::Error);
  }
  EXPECT_EQ(is_held(directory), false);
  for (int epoch = 3; epoch < 5; ++epoch) {
    const Lease next(directory);
    EXPECT_NO_THROW(next.check());
    EXPECT_TRUE(fs::exists(directory / ("journal/epoch." + std::to_string(epoch))));
    EXPECT_FALSE(fs::exists(directory / ("journal/epoch." + std::to_string(epoch - 1))));
  }
  ::unsetenv("STEREOSWEEP_LOCK_TIMEOUT_S");
}

// A file server that is restarted answers ESTALE, EIO or EACCES for a while; a link to itself answers ELOOP.
TEST_F(DirectoryTest, AnUnclearAnswerIsNoNewerAttempt) {
  const Lease lease(directory);
  const auto epoch = directory / "journal/epoch.1";
  fs::remove(epoch);
  fs::create_symlink(epoch, epoch);
  std::thread server([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(directory / "new");
    fs::rename(directory / "new", epoch);
  });
  EXPECT_FALSE(lease.is_overtaken());
  EXPECT_NO_THROW(lease.check());
  server.join();
}

TEST_F(DirectoryTest, NothingIsWrittenThroughALink) {
  std::ofstream(directory / "precious") << "mine";
  fs::create_directory(directory / "journal");
  fs::create_symlink(directory / "precious", directory / "journal/lock");
  EXPECT_THROW(Lease{directory}, base::Error);
  fs::create_symlink(directory / "precious", directory / "log");
  base::set_log_file((directory / "log").string());
  base::log(base::LogLevel::info, "a line");
  base::set_log_file("");
  EXPECT_EQ(base::read_file(directory / "precious"), "mine");
}

TEST_F(DirectoryTest, ADirectoryThatIsGoneIsNoNewerAttempt) {
  const Lease lease(directory);
  fs::rename(directory / "journal", directory / "elsewhere");
  try {
    lease.check();
    FAIL() << "nothing noticed";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is gone (it was moved or deleted"));
  }
}

TEST(InWorkTest, TimeInWhichTheProcessWasStoppedIsNotTheBlocks) {
  constexpr std::chrono::seconds limit{1};
  InWork in_work;
  const testing::ScriptedEngine engine([&](const std::string& step) {
    if (step == "run 7") {
      EXPECT_EQ(in_work.overdue(limit), "");
      std::this_thread::sleep_for(std::chrono::milliseconds(1300));  // nobody asks
      EXPECT_EQ(in_work.overdue(limit), "");
      std::string cause;
      for (int i = 0; i < 300 && cause.empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        cause = in_work.overdue(limit);
      }
      EXPECT_THAT(cause, HasSubstr("block 7 has been in work for 1 s"));
    } else if (step == "read 7") {
      EXPECT_THAT(in_work.overdue(limit),
                  AllOf(HasSubstr("block 7 has been in work for 1 s"), HasSubstr("prompt: '7'")));
    }
  });
  const testing::ChainProbe probe(1, 8);
  {
    BlockWork work(probe, &engine, probe.blocks().block(7), in_work);
    work.plan();
    work.run();
    EXPECT_EQ(in_work.overdue(limit), "");  // its clock stands still
    EXPECT_EQ(work.finish({}).failure, "");
  }
  EXPECT_EQ(in_work.overdue(limit), "");
}

RunSettings settings_of(const sweep::Job& job, const base::FileSet& files, const std::string& device) {
  return make_settings(job, hash_files(job, files, {}), device);
}

TEST(SettingsTest, DifferencesNameTheField) {
  base::FileSet files("model");
  files.add("tokenizer.json", base::to_shared("{}"));
  files.add("config.json", base::to_shared("{}"));
  files.add("model.safetensors", base::to_shared("weights"));
  files.add("README.txt", base::to_shared("whatever"));
  sweep::Job job;
  const auto first = settings_of(job, files, "device A");
  files.add("README.txt", base::to_shared("changed"));
  EXPECT_THAT(settings_differences(first.text, settings_of(job, files, "device A").text), IsEmpty());
  job.execution.threads_per_rank = 2;
  files.add("model.safetensors", base::to_shared("other weights"));
  const auto second = settings_of(job, files, "device A");
  EXPECT_NE(first.fingerprint(), second.fingerprint());
  EXPECT_THAT(settings_differences(first.text, second.text),
              ::testing::UnorderedElementsAre(HasSubstr("execution.threads_per_rank: 1, now 2"),
                                              "model/model.safetensors: other content than before"));
  EXPECT_NE(files_hash(first, "model"), files_hash(second, "model"));
  EXPECT_EQ(files_hash(first, "tokenizer"), files_hash(second, "tokenizer"));
}

TEST(SettingsTest, BuildAndLibrariesAreNamedAndChangeEveryKey) {
  base::FileSet files("model");
  files.add("tokenizer.json", base::to_shared("{}"));
  sweep::Job job;
  const auto settings = with_software(settings_of(job, files, "device A"), job, {});
  EXPECT_EQ(settings.text, with_software(settings_of(job, files, "device A"), job, {}).text);
  const auto upgraded = with_field(settings, "libtorch", "2.12.0, MKL 2025.0");
  EXPECT_NE(settings.fingerprint(), upgraded.fingerprint());
  const auto fields = settings_differences(settings.text, upgraded.text);
  EXPECT_THAT(fields, ElementsAre(AllOf(StartsWith("libtorch: 2."), HasSubstr("), MKL 2"), HasSubstr(", oneDNN 3."),
                                        EndsWith(", now 2.12.0, MKL 2025.0"))));
  EXPECT_TRUE(is_software(fields.front()));
  EXPECT_THAT(settings.text, HasSubstr("\"build\":\"GNU "));
  EXPECT_FALSE(is_software("model/config.json: other content than before"));
  job.execution.engine = query::EngineKind::fake;
  EXPECT_THAT(with_software(settings_of(job, files, "fake"), job, {}).text, ::testing::Not(HasSubstr("libtorch")));
}

TEST(SettingsTest, SharesOfTheHashesMakeTheWhole) {
  base::FileSet files("model");
  for (int i = 0; i < 9; ++i) {
    files.add("part-" + std::to_string(i) + ".safetensors", base::to_shared(std::string(100 + 7 * i, 'a')));
  }
  files.add("tokenizer.json", base::to_shared("{}"));
  files.add("README.txt", base::to_shared("no matter"));
  const sweep::Job job;
  const auto whole = hash_files(job, files, {});
  EXPECT_EQ(whole.size(), 10U);
  for (const int parts : {1, 2, 3, 4, 16}) {
    FileHashes merged;
    for (int part = 0; part < parts; ++part) {
      auto share = hash_files(job, files, {part, parts});
      EXPECT_LE(share.size(), static_cast<std::size_t>(10 / parts + 2)) << "share " << part << " of " << parts;
      const auto before = merged.size() + share.size();
      merged.merge(share);
      EXPECT_EQ(merged.size(), before) << "a file was hashed twice";
    }
    EXPECT_EQ(merged, whole);
    EXPECT_EQ(make_settings(job, merged, "device A").text, settings_of(job, files, "device A").text);
  }
}

TEST(SettingsTest, TheFakeEngineSeesNoWeights) {
  base::FileSet files("model");
  files.add("tokenizer.json", base::to_shared("{}"));
  files.add("model.safetensors", base::to_shared("weights"));
  sweep::Job job;
  job.execution.engine = query::EngineKind::fake;
  const auto first = settings_of(job, files, "fake");
  files.add("model.safetensors", base::to_shared("other weights"));
  EXPECT_EQ(first.text, settings_of(job, files, "fake").text);
  job.seed = 5;
  EXPECT_THAT(settings_differences(first.text, settings_of(job, files, "fake").text), ElementsAre("seed: 0, now 5"));
}

TEST(ProgressTest, EstimatesFromWhatWasAdded) {
  const auto start = Clock::now();
  Progress progress({"rank 0 on alpha", "rank 1 on beta"});
  RunStatus status;
  status.num_ranks = 2;
  status.blocks_total = 10;
  status.blocks_done = 4;
  status.cells_total = 1000;
  status.cells_done = 400;
  progress.add(0, 200, 50, 0.1);
  progress.add(1, 200, 50, 0.4);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  progress.estimate(status);
  EXPECT_GE(status.cells_per_second, 400 / since(start).count());
  EXPECT_LT(status.cells_per_second, 4001);
  EXPECT_NEAR(status.seconds_left, 600 / status.cells_per_second, 1e-9);
  EXPECT_NEAR(status.tokens_per_second, status.cells_per_second / 4, 1e-6);
  EXPECT_EQ(status.slowest, "rank 1 on beta (0.4 s per block)");
  status.seconds_left = 3725;
  EXPECT_THAT(progress_line(status), HasSubstr("4/10 blocks, 1:02:05 left, 400/1,000 cells"));
  status.slowest = "rank 1 on a-node-with-a-rather-long-name.of.a.cluster (0.4 s per block)";
  for (const std::size_t columns : {0U, 2U, 40U, 80U}) {
    EXPECT_LT(terminal_line(status, columns).size(), std::max<std::size_t>(columns, 2));
  }
  EXPECT_EQ(terminal_line(status, 80).find("[########............] 4/10 blocks, 1:02:05 left, 400/1,000 cells, "), 0U);
  for (std::size_t columns = 40; columns < 200; ++columns) {  // parts are whole
    const auto line = terminal_line(status, columns);
    EXPECT_TRUE(std::ranges::any_of(std::array{" blocks", " left", " cells", "/s", " per block)"},
                                    [&](const char* end) { return line.ends_with(end); }))
        << line;
  }
  EXPECT_EQ(terminal_line(status, 1000), "[########............] " + progress_line(status));
}

TEST(SignalTest, FirstSignalIsKeptAndTheActionSeesIt) {
  SignalWatcher watcher;
  EXPECT_EQ(watcher.received(), 0);
  std::atomic<int> seen{0};
  ::kill(::getpid(), SIGUSR1);
  while (watcher.received() == 0) {
    std::this_thread::yield();
  }
  ::kill(::getpid(), SIGTERM);
  const auto action = watcher.act([&](int number) {
    seen = number;
    return Next::nothing;
  });
  while (seen == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(watcher.received(), SIGUSR1);
  EXPECT_EQ(signal_name(SIGUSR1), "USR1");
}

TEST(SignalTest, AnActionEndsWithItsOwner) {
  SignalWatcher watcher;
  std::atomic<int> seen{0};
  const auto note = [&](int what) {
    return [&seen, what](int) {
      seen = what;
      return Next::nothing;
    };
  };
  {
    const auto outer = watcher.act(note(1));
    const auto inner = watcher.act(note(2));
  }
  ::kill(::getpid(), SIGUSR1);
  while (watcher.received() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(seen, 0);
  const auto last = watcher.act(note(3));
  EXPECT_EQ(seen, 3);  // it had come before
}

TEST(SignalTest, AnActionIsCalledAgainAsLongAsItSaysSo) {
  SignalWatcher watcher;
  std::atomic<int> calls{0};
  const auto action = watcher.act([&](int) { return ++calls < 3 ? Next::again : Next::nothing; });
  ::kill(::getpid(), SIGUSR1);
  while (calls < 3) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(calls, 3);
}

/// What is told of a rank that ends as `end` says, before and after its parent has fetched it.
std::array<StopOrder, 2> death_of(const std::function<void()>& end) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const auto child = ::fork();
  if (child == 0) {
    char go{};
    [[maybe_unused]] const auto told = ::read(ends[0], &go, 1);
    end();
    ::_exit(0);
  }
  parallel::RankPlace rank;
  rank.name = "rank 1 on here";
  rank.process.number = child;
  rank.watch = std::make_shared<const parallel::ProcessWatch>(rank.process);
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const auto before = stop_for_death(rank);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return {before, stop_for_death(rank)};
}

TEST(SignalTest, ADeathIsToldWithWhatTheKernelKnowsOfIt) {
  const auto [killed, fetched] = death_of([] { ::raise(SIGKILL); });
  EXPECT_EQ(killed.state(), "lost");
  EXPECT_EQ(killed.cause, "rank 1 on here has died (signal KILL, perhaps for want of memory)");
  EXPECT_EQ(death_of([] { ::raise(SIGABRT); })[0].cause, "rank 1 on here has died (signal ABRT)");
  EXPECT_EQ(death_of([] { ::_exit(3); })[0].cause, "rank 1 on here has ended (exit status 3; its last lines say more)");
  if (fetched.cause != killed.cause) {  // before Linux 6.15
    EXPECT_THAT(fetched.cause,
                ::testing::MatchesRegex("rank 1 on here has died \\(process [0-9]+ crashed or was killed, "
                                        "perhaps for want of memory\\)"));
  }
}

TEST(SignalTest, AHangUpIsSeenUnlessItWasIgnored) {
  const auto before = ::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    SignalWatcher watcher;
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGTERM);
    while (watcher.received() == 0) {
      std::this_thread::yield();
    }
    EXPECT_EQ(watcher.received(), SIGTERM);
  }
  ::signal(SIGHUP, SIG_DFL);
  SignalWatcher watcher;
  ::kill(::getpid(), SIGHUP);
  while (watcher.received() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(watcher.received(), SIGHUP);
  ::signal(SIGHUP, before);
}

TEST(SignalTest, NobodyWhoReadsIsNoEnd) {
  const SignalWatcher watcher;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);  // and not SIGPIPE
  ::close(ends[1]);
}

TEST(EnvironmentTest, SecondsAreChecked) {
  ::setenv("STEREOSWEEP_TEST_S", "2.5", 1);
  EXPECT_EQ(base::seconds_from_environment("STEREOSWEEP_TEST_S", 1), 2.5);
  for (const char* bad : {"0", "-1", "ten", "nan"}) {
    ::setenv("STEREOSWEEP_TEST_S", bad, 1);
    EXPECT_THROW(base::seconds_from_environment("STEREOSWEEP_TEST_S", 1), base::InputError) << bad;
  }
  ::unsetenv("STEREOSWEEP_TEST_S");
  EXPECT_EQ(base::seconds_from_environment("STEREOSWEEP_TEST_S", 1), 1);
}

}  // namespace
}  // namespace stereosweep::run
