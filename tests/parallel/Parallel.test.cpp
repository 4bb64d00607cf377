// Runs on 1, 2, 3 and 4 ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/Bytes.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/process/Trial.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/GpuBinding.hpp"
#include "parallel/Messenger.hpp"
#include "parallel/MpiSession.hpp"
#include "parallel/NodeFiles.hpp"
#include "parallel/SharedMemory.hpp"
#include "support/TemporaryDirectory.hpp"

namespace {

/// Collective calls of this process by name, counted where MPI lets a program stand between (its profiling interface).
using Calls = std::map<std::string, int>;
Calls collective_calls;

}  // namespace

extern "C" {

int MPI_Iallreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm group,
                   MPI_Request* request) {
  ++collective_calls["MPI_Iallreduce"];
  return PMPI_Iallreduce(sent, received, count, type, operation, group, request);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm group, MPI_Request* request) {
  ++collective_calls["MPI_Ibcast"];
  return PMPI_Ibcast(data, count, type, root, group, request);
}

int MPI_Igather(const void* sent, int num_sent, MPI_Datatype sent_type, void* received, int num_received,
                MPI_Datatype received_type, int root, MPI_Comm group, MPI_Request* request) {
  ++collective_calls["MPI_Igather"];
  return PMPI_Igather(sent, num_sent, sent_type, received, num_received, received_type, root, group, request);
}

int MPI_Iallgather(const void* sent, int num_sent, MPI_Datatype sent_type, void* received, int num_received,
                   MPI_Datatype received_type, MPI_Comm group, MPI_Request* request) {
  ++collective_calls["MPI_Iallgather"];
  return PMPI_Iallgather(sent, num_sent, sent_type, received, num_received, received_type, group, request);
}

}  // extern "C"

namespace stereosweep::parallel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<std::byte> content_of(const base::SharedBytes& file) {
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return bytes;
}

std::vector<std::byte> pattern(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 31 + (i >> 8) + static_cast<std::size_t>(seed));
  }
  return bytes;
}

TEST(NullCommunicatorTest, IsOneRank) {
  const Communicator none;
  EXPECT_EQ(none.size(), 1);
  EXPECT_EQ(none.rank(), 0);
  EXPECT_EQ(none.node().size(), 1);
  EXPECT_EQ(none.broadcast(std::string("text"), 0), "text");
  EXPECT_EQ(none.gather_everywhere(std::string("x")), std::vector<std::string>{"x"});
  Messenger messenger(none);
  EXPECT_FALSE(messenger.poll().has_value());
  EXPECT_TRUE(messenger.all_sent());
}

TEST(RankProcessTest, ANumberThatWasGivenAgainIsAnotherProcess) {
  auto process = this_process();
  EXPECT_EQ(process.number, ::getpid());
  EXPECT_TRUE(is_alive(process));
  ++process.start;
  EXPECT_FALSE(is_alive(process));
}

class ParallelTest : public ::testing::Test {
 protected:
  MpiSession session;
  const Communicator& world = session.world();
};

TEST_F(ParallelTest, BroadcastsAnySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3} << 20}) {
    const int root = world.size() - 1;
    const auto sent = world.rank() == root ? pattern(size, 7) : std::vector<std::byte>{};
    EXPECT_EQ(world.broadcast(sent, root), pattern(size, 7));
  }
}

TEST_F(ParallelTest, BroadcastsValues) {
  struct Pair {
    int number;
    double share;
  };
  const int root = world.size() - 1;
  const auto pair = world.broadcast(Pair{world.rank(), 0.5 * world.rank()}, root);
  EXPECT_EQ(pair.number, root);
  EXPECT_EQ(pair.share, 0.5 * root);
  EXPECT_TRUE(world.broadcast(world.rank() == 0, 0));
  EXPECT_FALSE(world.broadcast(world.rank() != root, root));
}

TEST_F(ParallelTest, FindsTheLeastNumberAndAnswers) {
  EXPECT_EQ(world.least(7 - world.rank()), 8 - world.size());
  EXPECT_TRUE(world.any(world.rank() == world.size() - 1));
  EXPECT_FALSE(world.any(false));
  EXPECT_EQ(world.all(world.rank() == 0), world.size() == 1);
  EXPECT_TRUE(world.all(true));
}

TEST_F(ParallelTest, AStepThatSucceedsTakesOneReduction) {
  collective_calls.clear();
  coordinated(world, [] {});
  EXPECT_EQ(collective_calls, world.handle() == nullptr ? Calls() : (Calls{{"MPI_Iallreduce", 1}}));
}

TEST_F(ParallelTest, TheTextOfAFailureTravelsFromItsRankAlone) {
  collective_calls.clear();
  EXPECT_THROW(coordinated(world, [] { throw base::Error("all fail"); }), SharedError);
  EXPECT_EQ(collective_calls, world.handle() == nullptr ? Calls() : (Calls{{"MPI_Iallreduce", 1}, {"MPI_Ibcast", 2}}));
}

TEST_F(ParallelTest, GathersTextsInRankOrder) {
  const auto all = world.gather_everywhere(std::string(static_cast<std::size_t>(world.rank()), 'x'));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    EXPECT_EQ(all[rank], std::string(rank, 'x'));
  }
}

TEST_F(ParallelTest, GathersAndBroadcastsWhatCanBePacked) {
  const std::pair own(world.rank(), std::vector<std::string>(static_cast<std::size_t>(world.rank()), "x"));
  const auto all = world.gather_everywhere(own);
  EXPECT_EQ(all.at(static_cast<std::size_t>(world.rank())), own);
  EXPECT_EQ(all.size(), static_cast<std::size_t>(world.size()));
  EXPECT_EQ(world.broadcast(own, world.size() - 1), all.back());
}

TEST_F(ParallelTest, RanksKnowEachOthersProcesses) {
  const auto places = places_of(world);
  ASSERT_EQ(places.size(), static_cast<std::size_t>(world.size()));
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    EXPECT_EQ(places[rank].name, "rank " + std::to_string(rank) + " on " + host_name());
    EXPECT_TRUE(places[rank].visible && is_alive(places[rank].process));
  }
  EXPECT_EQ(places[static_cast<std::size_t>(world.rank())].process, this_process());
  world.all(true);
}

TEST_F(ParallelTest, WaitingForARankThatDoesNotComeEndsWithAnError) {
  if (world.size() == 1) {
    GTEST_SKIP() << "one rank waits for nobody";
  }
  const auto copy = world.split(0);
  if (world.rank() == 0) {
    ::setenv("STEREOSWEEP_WAIT_TIMEOUT_S", "0.2", 1);
    EXPECT_THROW(copy.broadcast(0, world.size() - 1), base::Error);
    ::unsetenv("STEREOSWEEP_WAIT_TIMEOUT_S");
  }
  world.all(true);  // the others come once rank 0 has given up
  if (world.rank() > 0) {
    copy.broadcast(0, world.size() - 1);
  }
  world.all(true);
}

TEST_F(ParallelTest, NodeHoldsAllRanksOfThisMachine) { EXPECT_EQ(world.node().size(), world.size()); }

TEST_F(ParallelTest, MessagesOfAllSizesCrossInAllDirections) {
  Messenger messenger(world);
  const std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 1984, 1985, 100000};
  for (int peer = 0; peer < world.size(); ++peer) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      messenger.send(peer, static_cast<std::uint32_t>(i), pattern(sizes[i], world.rank()));
    }
  }
  std::map<int, std::uint32_t> next;
  std::size_t left = sizes.size() * static_cast<std::size_t>(world.size());
  while (left > 0) {
    if (const auto message = messenger.poll()) {
      EXPECT_EQ(message->kind, next[message->source]++) << "out of order";
      EXPECT_EQ(message->bytes, pattern(sizes.at(message->kind), message->source));
      --left;
    }
  }
  while (!messenger.all_sent()) {
  }
  world.all(true);
  EXPECT_FALSE(messenger.poll().has_value());
}

TEST_F(ParallelTest, PollNeverWaitsForASenderThatStopsHalfway) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t size = std::size_t{32} << 20;
  Messenger messenger(world);
  const testing::TemporaryDirectory directory;
  const fs::path go = world.broadcast((directory / "go").string(), 0);
  if (world.rank() == world.size() - 1 && world.rank() > 0) {
    messenger.send(0, 5, pattern(size, 1));
    const auto start = Clock::now();  // as a rank that was stopped, or whose node does not answer
    while (!fs::exists(go) && Clock::now() - start < std::chrono::seconds(60)) {
      ::usleep(1000);
    }
    while (!messenger.all_sent()) {
    }
  }
  if (world.rank() == 0 && world.size() > 1) {
    std::optional<Message> message;
    auto longest = Clock::duration::zero();
    for (int polls = 0; !message; ++polls) {
      const auto start = Clock::now();
      message = messenger.poll();
      longest = std::max(longest, Clock::now() - start);
      if (polls < 200) {
        ::usleep(1000);
      } else {
        std::ofstream(go).close();
      }
    }
    std::ofstream(go).close();
    EXPECT_EQ(message->bytes, pattern(size, 1));
    EXPECT_LT(longest, std::chrono::seconds(30));
  }
  world.all(true);
}

TEST_F(ParallelTest, AFailureOnOneRankIsThrownOnAll) {
  const int culprit = world.size() - 1;
  try {
    coordinated(world, [&] {
      if (world.rank() == culprit) {
        throw base::InputError("no such group");
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no such group"));
    EXPECT_EQ(error.exit_code(), base::ExitCode::usage);
    if (culprit > 0) {
      EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(culprit) + " on " + host_name()));
    }
  }
  EXPECT_EQ(coordinated(world, [&] { return world.rank() + 1; }), world.rank() + 1);
}

TEST_F(ParallelTest, WaitingRanksSleep) {
  const auto processor_seconds = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  world.all(true);
  const double before = processor_seconds();
  if (world.rank() == 0) {
    ::usleep(1000000);
  }
  world.all(true);
  EXPECT_LT(processor_seconds() - before, 0.3);
}

class NodeFilesTest : public ParallelTest {
 protected:
  void SetUp() override {
    std::string name;
    if (world.rank() == 0) {
      temporary.emplace();
      name = temporary->path();
      std::ofstream(name + "/config.json") << "{}";
      for (const std::string file : {"/a.safetensors", "/b.safetensors"}) {
        const auto bytes = pattern(1234567, file[1]);
        std::ofstream(name + file).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
      }
    }
    directory = world.broadcast(name, 0);
  }
  void TearDown() override { world.all(true); }
  /// Other bytes at the beginning of b.safetensors; what it holds then.
  std::vector<std::byte> change_weights() const {
    world.all(true);
    if (world.rank() == 0) {
      std::fstream(directory / "b.safetensors", std::ios::in | std::ios::out | std::ios::binary).write("changed", 7);
    }
    world.all(true);
    auto changed = pattern(1234567, 'b');
    std::memcpy(changed.data(), "changed", 7);
    return changed;
  }
  std::optional<testing::TemporaryDirectory> temporary;  ///< on rank zero
  fs::path directory;
};

TEST_F(NodeFilesTest, EveryRankSeesTheSameBytes) {
  const auto files = read_checkpoint_once(world, world.node(), directory, base::CheckpointPart::all_files).files;
  EXPECT_EQ(files.at("config.json").text(), "{}");
  for (const std::string file : {"a.safetensors", "b.safetensors"}) {
    const auto expected = pattern(1234567, file[0]);
    EXPECT_EQ(content_of(files.at(file)), expected) << file;
  }
  EXPECT_EQ(files.files().size(), 3U);
}

// Of a rank alone, too.
TEST_F(NodeFilesTest, KeptWeightsOutliveTheirFiles) {
  const auto files =
      read_checkpoint_once(world, world.node(), directory, base::CheckpointPart::all_files, WeightPlace::kept_memory)
          .files;
  change_weights();
  EXPECT_EQ(content_of(files.at("b.safetensors")), pattern(1234567, 'b'));
}

// A node per one or two ranks: with three ranks and two a node the last one is alone.
TEST_F(NodeFilesTest, NodesGetTheirBytesFromTheFirstOne) {
  for (const int ranks : {1, 2}) {
    const auto node = world.split(world.rank() / ranks);
    fs::path own = directory;
    std::optional<testing::TemporaryDirectory> other;
    if (world.rank() >= ranks) {  // as a node that sees another version of the files
      other.emplace();
      own = other->path();
      for (const std::string file : {"a.safetensors", "b.safetensors"}) {
        const auto bytes = pattern(1234567, 'x');
        std::ofstream(own / file).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
      }
    }
    const auto [files, sharers] = read_checkpoint_once(world, node, own, base::CheckpointPart::all_files);
    for (const std::string file : {"a.safetensors", "b.safetensors"}) {
      EXPECT_EQ(content_of(files.at(file)), pattern(1234567, file[0])) << file;
    }
    EXPECT_EQ(files.at("config.json").text(), "{}");
    EXPECT_EQ(sharers.size(), world.size());
  }
}

// The first node has no room for a copy: its ranks read the files as they see them, and share no hash with the others.
TEST_F(NodeFilesTest, ANodeMayReadForItself) {
  const auto node = world.split(world.rank() / 2);
  const auto place = world.rank() < 2 ? WeightPlace::files : WeightPlace::node_memory;
  const auto [files, sharers] = read_checkpoint_once(world, node, directory, base::CheckpointPart::all_files, place);
  EXPECT_EQ(sharers.size(), node.size());
  EXPECT_EQ(content_of(files.at("b.safetensors")), pattern(1234567, 'b'));
  const auto changed = change_weights();
  EXPECT_EQ(content_of(files.at("b.safetensors")), world.rank() < 2 ? changed : pattern(1234567, 'b'));
}

// The files of the kernel's own settings are shorter than they say.
TEST_F(NodeFilesTest, AReaderThatFailsEndsAllRanks) {
  const auto node = world.split(world.rank());
  if (world.rank() == 0) {
    fs::remove(directory / "b.safetensors");
    fs::create_symlink("/sys/devices/system/cpu/online", directory / "b.safetensors");
  }
  world.all(true);
  try {
    const auto files = read_checkpoint_once(world, node, directory, base::CheckpointPart::all_files).files;
    EXPECT_EQ(world.size(), 1);  // it opens its files, and reads nothing yet
    content_of(files.at("b.safetensors"));
    ADD_FAILURE() << "nothing noticed";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("became shorter while it was read"));
  }
}

// What a file holds when it is read counts, so nothing was copied before.
TEST_F(NodeFilesTest, WeightsCanStayInTheirFiles) {
  const auto files =
      read_checkpoint_once(world, world.node(), directory, base::CheckpointPart::all_files, WeightPlace::files).files;
  EXPECT_EQ(files.at("config.json").text(), "{}");
  EXPECT_EQ(content_of(files.at("b.safetensors")), pattern(1234567, 'b'));
  const auto changed = change_weights();
  EXPECT_EQ(content_of(files.at("b.safetensors")), changed);
}

// The ranks' shares begin and end anywhere: inside a file, between two, where a file is smaller than a share.
TEST_F(NodeFilesTest, SmallAndEmptyFilesLieBetweenLargeOnes) {
  const std::map<std::string, std::size_t> sizes = {
      {"c.safetensors", 0}, {"d.safetensors", 1}, {"e.safetensors", 63}, {"f.safetensors", 4097}};
  if (world.rank() == 0) {
    for (const auto& [file, size] : sizes) {
      const auto bytes = pattern(size, file[0]);
      std::ofstream(directory / file).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    }
  }
  world.all(true);
  const auto files = read_checkpoint_once(world, world.node(), directory, base::CheckpointPart::all_files).files;
  for (const auto& [file, size] : sizes) {
    EXPECT_EQ(content_of(files.at(file)), pattern(size, file[0])) << file;
  }
  for (const std::string file : {"a.safetensors", "b.safetensors"}) {
    EXPECT_EQ(content_of(files.at(file)), pattern(1234567, file[0])) << file;
  }
}

std::set<fs::path> named_segments() {
  std::set<fs::path> found;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with("stereosweep")) {
      found.insert(entry.path());
    }
  }
  return found;
}

TEST_F(NodeFilesTest, AKillWhileASegmentHasANameLeavesNoMemory) {
  if (world.rank() == 0) {
    const auto before = named_segments();
    const auto cause = base::try_in_child([](const base::TrialStep&) {
      base::set_faults("step:attach_segment:1:kill");
      share_memory(Communicator(), Communicator(), 1 << 20);
    });
    EXPECT_THAT(cause, ::testing::HasSubstr("Killed"));
    std::set<fs::path> left;
    std::ranges::set_difference(named_segments(), before, std::inserter(left, left.end()));
    for (const auto& path : left) {
      std::error_code gone;
      EXPECT_TRUE(fs::file_size(path, gone) == 0 || gone) << path;
    }
    EXPECT_NE(share_memory(Communicator(), Communicator(), 1 << 20), nullptr);
    for (const auto& path : left) {
      EXPECT_FALSE(fs::exists(path)) << path;
    }
  }
}

TEST_F(NodeFilesTest, SmallFilesComeWithoutWeights) {
  const auto [files, sharers] = read_checkpoint_once(world, world.node(), directory, base::CheckpointPart::small_files);
  EXPECT_EQ(files.files().size(), 1U);
  EXPECT_EQ(sharers.size(), world.size());
}

TEST_F(NodeFilesTest, AMissingDirectoryIsAnErrorEverywhere) {
  EXPECT_THROW(read_checkpoint_once(world, world.node(), directory / "none", base::CheckpointPart::all_files),
               base::Error);
}

TEST_F(ParallelTest, GpuBindingAnswersOrRefuses) {
  if (count_gpus() == 0) {
    EXPECT_EQ(bind_gpu(world).device, -1);
    GTEST_SKIP() << "no GPU is visible: only the answer without one was checked";
  }
  if (count_gpus() < world.size()) {
    EXPECT_THROW(bind_gpu(world), base::Error);
  } else {
    EXPECT_EQ(bind_gpu(world).device, world.rank());
  }
}

}  // namespace
}  // namespace stereosweep::parallel
