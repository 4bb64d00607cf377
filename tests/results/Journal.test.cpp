#include "results/Journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <utility>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/process/FaultInjection.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::results {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::byte> payload_of(std::uint64_t block) {
  std::vector<std::byte> payload(100 + (block * 37) % 91);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::byte>(block * 131 + i * 7);
  }
  return payload;
}

BlockId id_of(std::uint64_t block) {
  return {base::sha256("block " + std::to_string(block)), block, 3 + block, {block, 2, 10 * block, 4}};
}

/// CRC-32 as zlib's, bit by bit.
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc % 2 == 1 ? 0xEDB88320 : 0);
    }
  }
  return ~crc;
}

class JournalTest : public ::testing::Test {
 protected:
  JournalHeader header(const std::string& attempt) const {
    return {base::sha256("job"), R"({"dtype":"float32"})", "stereosweep test", attempt};
  }
  fs::path path(const std::string& attempt) const { return directory / "journal" / (attempt + ".log"); }
  fs::path index(const std::string& attempt) const { return directory / "journal" / (attempt + ".index"); }
  void write(const std::string& attempt, std::uint64_t first, std::uint64_t last) const {
    JournalWriter writer(directory, header(attempt));
    for (auto block = first; block < last; ++block) {
      writer.stage(id_of(block), payload_of(block));
      writer.commit();
    }
  }
  /// Number of blocks found; every one must be right.
  std::size_t check(const JournalStore& store) const {
    query::EngineCounts sum;
    for (const auto& record : store.records()) {
      EXPECT_EQ(record.cost, id_of(record.block_index).cost);
      sum += record.cost;
      EXPECT_EQ(store.read(record), payload_of(record.block_index));
      EXPECT_EQ(record.key, id_of(record.block_index).key);
      EXPECT_EQ(record.num_contexts, 3 + record.block_index);
      EXPECT_EQ(store.find(record.key), &record);
      EXPECT_EQ(store.find_block(record.block_index), &record);
    }
    EXPECT_EQ(store.cost(), sum);  // each block once, however many attempts hold it
    return store.records().size();
  }

  testing::TemporaryDirectory temporary;
  const fs::path& directory = temporary.path();
};

TEST_F(JournalTest, ReadsBackAllAttempts) {
  write("b", 5, 9);
  write("a", 0, 5);
  const auto store = JournalStore::open(directory);
  EXPECT_EQ(check(store), 9U);
  ASSERT_THAT(store.attempts(), SizeIs(2));
  EXPECT_EQ(store.attempts()[0].attempt, "a");
  EXPECT_EQ(store.attempts()[1].settings, R"({"dtype":"float32"})");
  EXPECT_EQ(store.attempts()[1].job_hash, base::sha256("job"));
  EXPECT_THAT(store.damage(), SizeIs(0));
  EXPECT_EQ(store.find(base::sha256("other")), nullptr);
  EXPECT_EQ(store.find_block(9), nullptr);
}

TEST_F(JournalTest, EmptyDirectoryHasNoRecords) { EXPECT_EQ(check(JournalStore::open(directory)), 0U); }

TEST_F(JournalTest, CutAtEveryByteKeepsTheWholeRecordsBefore) {
  write("a", 0, 4);
  const auto bytes = base::read_file(path("a"));
  const auto whole = JournalStore::open(directory);
  std::vector<std::uint64_t> record_ends;
  for (const auto& record : whole.records()) {
    record_ends.push_back(record.offset + record.size + 4);
  }
  ASSERT_EQ(record_ends.back(), bytes.size());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::ofstream(path("a"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(length));
    const auto store = JournalStore::open(directory);
    const auto expected = std::ranges::count_if(record_ends, [&](auto end) { return end <= length; });
    ASSERT_EQ(check(store), static_cast<std::size_t>(expected)) << "cut at " << length;
    ASSERT_THAT(store.damage(), SizeIs(0)) << "cut at " << length;
  }
}

TEST_F(JournalTest, AnyFlippedBitCostsOneRecordAndIsReported) {
  write("a", 0, 3);
  const auto bytes = base::read_file(path("a"));
  const auto first_record = JournalStore::open(directory).records()[0].offset - 100;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    std::ofstream(path("a"), std::ios::binary) << damaged;
    try {
      const auto store = JournalStore::open(directory);
      ASSERT_EQ(check(store), at < first_record ? 0U : 2U) << "bit at " << at;
      if (at >= first_record) {
        ASSERT_THAT(store.damage(), SizeIs(1)) << "bit at " << at;
      }
    } catch (const base::Error& error) {
      FAIL() << "bit at " << at << ": " << error.what();
    }
  }
}

/// Blocks of the records that can be read from the front on, and how many gaps lie before, between and behind them: one
/// record after the other, without any other's help.
std::pair<std::vector<std::uint64_t>, std::size_t> read_step_by_step(std::string_view bytes, std::size_t position) {
  constexpr std::size_t head_size = 100;
  const auto number = [&](std::size_t at, auto value) {
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  };
  std::vector<std::uint64_t> blocks;
  std::size_t gaps = 0;
  std::size_t behind = position;  // of the last record
  while (bytes.size() - position >= head_size) {
    const auto head = bytes.substr(position, head_size);
    const auto seed = number(position + head_size - 4, std::uint32_t{});
    if (!head.starts_with("\xF5SSWrec\n") || crc_of(head.substr(0, head_size - 4)) != seed) {
      ++position;
      continue;
    }
    const auto size = number(position + 8, std::uint64_t{});
    if (bytes.size() - position - head_size < size + 4) {
      break;
    }
    // A chained checksum is that of both parts in a row.
    const std::string both =
        std::string(head.substr(0, head_size - 4)) + std::string(bytes.substr(position + head_size, size));
    if (crc_of(both) != number(position + head_size + size, std::uint32_t{})) {
      ++position;
      continue;
    }
    gaps += position == behind ? 0 : 1;
    blocks.push_back(number(position + 48, std::uint64_t{}));
    position = behind = position + head_size + size + 4;
  }
  return {blocks, gaps};
}

/// Payloads are checked ahead of the reader, many side by side: what is damaged is seen where it is all the same.
TEST_F(JournalTest, ReadsAroundAnyDamage) {
  write("a", 0, 60);
  const auto bytes = base::read_file(path("a"));
  const auto records = JournalStore::open(directory).records();
  const auto first = records[0].offset - 100;
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (int round = 0; round < 400; ++round) {
    auto damaged = bytes;
    for (auto places = 1 + below(6); places > 0; --places) {
      const auto at = first + below(bytes.size() - first);
      const auto length = std::min(1 + below(round % 2 == 0 ? 3 : 700), bytes.size() - at);
      switch (below(4)) {
        case 0:
          damaged.replace(at, length, length, '\0');
          break;
        case 1:
          damaged.erase(at, length);
          damaged.resize(bytes.size(), 'x');
          break;
        case 2:  // whole records lie where others were, as after a file system's repair
          damaged.replace(at, length, bytes.substr(first + below(bytes.size() - first - length), length));
          break;
        default:
          damaged[at] = static_cast<char>(damaged[at] ^ 16);
      }
    }
    std::ofstream(path("a"), std::ios::binary) << damaged;
    auto [blocks, gaps] = read_step_by_step(damaged, first);
    const auto store = JournalStore::open(directory);
    std::ranges::sort(blocks);
    const auto repeats = std::ranges::unique(blocks);
    blocks.erase(repeats.begin(), repeats.end());
    ASSERT_EQ(check(store), blocks.size()) << "round " << round;
    for (std::size_t index = 0; index < blocks.size(); ++index) {
      ASSERT_EQ(store.records()[index].block_index, blocks[index]) << "round " << round;
    }
    ASSERT_THAT(store.damage().size(), AnyOf(gaps, gaps + 1)) << "round " << round;  // and one for the file's end
  }
}

TEST_F(JournalTest, RepeatedBlocksMustBeEqual) {
  write("a", 0, 3);
  write("b", 2, 4);
  EXPECT_EQ(check(JournalStore::open(directory)), 4U);
  JournalWriter writer(directory, header("c"));
  writer.stage(id_of(1), payload_of(2));
  writer.commit();
  try {
    JournalStore::open(directory);
    FAIL() << "different numbers were accepted";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("different numbers for block 1"));
  }
}

TEST_F(JournalTest, OneCommitTakesManyRecords) {
  JournalWriter writer(directory, header("a"));
  for (std::uint64_t block = 0; block < 1000; ++block) {
    writer.stage(id_of(block), payload_of(block));
  }
  EXPECT_EQ(JournalStore::open(directory).records().size(), 0U);
  writer.commit();
  writer.commit();
  EXPECT_EQ(check(JournalStore::open(directory)), 1000U);
}

TEST_F(JournalTest, ADeletedFileTakesNoMoreBlocks) {
  JournalWriter writer(directory, header("attempt"));
  writer.stage(id_of(0), payload_of(0));
  writer.commit();
  fs::remove(path("attempt"));
  writer.stage(id_of(1), payload_of(1));
  EXPECT_THROW(writer.commit(), base::Error);
}

TEST_F(JournalTest, AnAttemptWithoutABlockLeavesNoTrace) {
  {
    JournalWriter writer(directory, header("a"));
    writer.commit();
    writer.stage(id_of(0), payload_of(0));
  }
  EXPECT_FALSE(fs::exists(directory / "journal"));
  EXPECT_FALSE(JournalStore::holds_blocks(directory));
  write("a", 0, 1);
  EXPECT_TRUE(JournalStore::holds_blocks(directory));
  const auto bytes = base::read_file(path("a"));
  const auto first = JournalStore::open(directory).records()[0];
  // killed in the first commit: a header alone, a cut record
  for (const auto length : {std::size_t{0}, std::size_t{40}, first.offset - 100, first.offset + 1}) {
    std::ofstream(path("a"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(length));
    EXPECT_FALSE(JournalStore::holds_blocks(directory)) << length;
    EXPECT_THAT(JournalStore::open(directory).attempts(), SizeIs(0)) << length;
  }
  std::ofstream(path("a"), std::ios::binary) << "damaged" << bytes;
  EXPECT_TRUE(JournalStore::holds_blocks(directory));
}

TEST_F(JournalTest, AnOlderJournalIsNamedAsSuch) {
  write("a", 0, 1);
  auto bytes = base::read_file(path("a"));
  bytes[12] = 2;  // the version; the checksum is made anew below
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, sizeof(length));
  const auto sum = crc_of(bytes.substr(0, 12 + length));
  std::memcpy(bytes.data() + 12 + length, &sum, sizeof(sum));
  std::ofstream(path("a"), std::ios::binary) << bytes;
  try {
    JournalStore::open(directory);
    FAIL() << "nothing noticed";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("was written by an older version of this program (journal format 2, not 3"));
  }
}

class JournalIndexTest : public JournalTest {
 protected:
  /// Changes the byte at the record's offset.
  void damage(const std::string& attempt, const JournalRecord& record) const {
    std::fstream file(path(attempt), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(record.offset));
    file.put(static_cast<char>(~static_cast<unsigned>(payload_of(record.block_index)[0])));
  }
};

TEST_F(JournalIndexTest, APayloadIsCheckedWhenItIsUsed) {
  write("a", 0, 5);
  EXPECT_EQ(check(JournalStore::open(directory, "", 0)), 5U);
  const auto record = JournalStore::open(directory).records()[2];
  damage("a", record);
  const auto indexed = JournalStore::open(directory);
  EXPECT_THAT(indexed.records(), SizeIs(5));
  EXPECT_THAT(indexed.damage(), SizeIs(0));
  EXPECT_EQ(indexed.read(indexed.records()[1]), payload_of(1));
  EXPECT_THROW(indexed.read(record), DamagedRecord);
  remove_indexes(directory, "");
  const auto read = JournalStore::open(directory);
  EXPECT_EQ(check(read), 4U);
  EXPECT_EQ(read.find_block(2), nullptr);
  EXPECT_THAT(read.damage(), SizeIs(1));
}

TEST_F(JournalIndexTest, TheIntactOneOfTwoRecordsCounts) {
  write("a", 0, 3);
  write("b", 2, 4);
  EXPECT_EQ(check(JournalStore::open(directory, "", 0)), 4U);
  damage("a", *JournalStore::open(directory).find_block(2));
  EXPECT_EQ(check(JournalStore::open(directory)), 4U);
}

TEST_F(JournalIndexTest, ATornIndexIsIgnored) {
  write("a", 0, 5);
  JournalStore::open(directory, "", 0);
  const auto bytes = base::read_file(index("a"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::ofstream(index("a"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(at));
    ASSERT_EQ(check(JournalStore::open(directory)), 5U) << "cut at " << at;
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    std::ofstream(index("a"), std::ios::binary) << damaged;
    ASSERT_EQ(check(JournalStore::open(directory)), 5U) << "bit at " << at;
  }
  EXPECT_EQ(check(JournalStore::open(directory, "", 0)), 5U);
  EXPECT_EQ(base::read_file(index("a")), bytes);
}

TEST_F(JournalIndexTest, AnIndexOfOtherBytesIsIgnored) {
  write("a", 0, 5);
  JournalStore::open(directory, "", 0);
  fs::remove(path("a"));
  write("a", 1, 6);  // the same header and size
  const auto store = JournalStore::open(directory);
  EXPECT_EQ(check(store), 5U);
  EXPECT_EQ(store.find_block(0), nullptr);
}

TEST_F(JournalIndexTest, AnIndexOfAnotherAttemptIsIgnored) {
  const auto write_two = [&](const std::string& facts, std::uint64_t first) {
    auto head = header("a");
    head.facts = facts;
    JournalWriter writer(directory, head);
    writer.stage(id_of(first), payload_of(first));
    writer.stage(id_of(4), payload_of(4));
    writer.commit();
  };
  write_two("one", 0);
  JournalStore::open(directory, "", 0);
  fs::remove(path("a"));
  write_two("two", 91);  // its payload has the size of block 0's, and the last record is the same
  const auto store = JournalStore::open(directory);
  EXPECT_EQ(check(store), 2U);
  EXPECT_EQ(store.find_block(0), nullptr);
}

TEST_F(JournalIndexTest, RecordsBehindTheIndexAreRead) {
  write("a", 0, 5);
  const auto bytes = base::read_file(path("a"));
  const auto fourth = JournalStore::open(directory).records()[3];
  std::ofstream(path("a"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(fourth.offset + 9));
  EXPECT_EQ(check(JournalStore::open(directory, "", 0)), 3U);
  std::ofstream(path("a"), std::ios::binary) << bytes;
  EXPECT_EQ(check(JournalStore::open(directory)), 5U);
  damage("a", JournalStore::open(directory).records()[3]);
  const auto store = JournalStore::open(directory);
  EXPECT_EQ(check(store), 4U);
  EXPECT_THAT(store.damage(), SizeIs(1));
}

TEST_F(JournalIndexTest, WriterAndReaderWriteTheSame) {
  JournalWriter writer(directory, header("a"));
  for (std::uint64_t block = 0; block < 5; ++block) {
    writer.stage(id_of(block), payload_of(block));
    writer.commit();
  }
  writer.write_index();
  EXPECT_FALSE(fs::exists(index("a")));  // too short to be worth one
  writer.write_index(0);
  const auto written = base::read_file(index("a"));
  EXPECT_EQ(check(JournalStore::open(directory)), 5U);
  fs::remove(index("a"));
  JournalStore::open(directory, "", 0);
  EXPECT_EQ(base::read_file(index("a")), written);
}

/// A run writes its index now and then: what follows is read, and what it covers is not.
TEST_F(JournalIndexTest, CoversWhatWasThereWhenItWasWritten) {
  {
    JournalWriter writer(directory, header("a"));
    for (std::uint64_t block = 0; block < 5; ++block) {
      writer.stage(id_of(block), payload_of(block));
      writer.commit();
      if (block == 2) {
        writer.write_index(0);
      }
    }
  }
  EXPECT_EQ(check(JournalStore::open(directory)), 5U);
  damage("a", JournalStore::open(directory).records()[1]);
  EXPECT_THAT(JournalStore::open(directory).damage(), SizeIs(0));
  damage("a", JournalStore::open(directory).records()[4]);
  EXPECT_THAT(JournalStore::open(directory).damage(), SizeIs(1));
}

TEST_F(JournalTest, AFailedJournalTakesNothingMore) {
  JournalWriter writer(directory, header("a"));
  writer.stage(id_of(0), payload_of(0));
  base::set_faults("journal_sync:1:eio");
  EXPECT_THROW(writer.commit(), base::Error);
  base::set_faults("");
  EXPECT_ANY_THROW(writer.commit());
  writer.write_index(0);
  EXPECT_FALSE(fs::exists(index("a")));
}

TEST_F(JournalTest, NeverOverwritesAnAttempt) {
  write("a", 0, 1);
  EXPECT_THROW(write("a", 1, 2), base::Error);
}

TEST_F(JournalTest, AttemptNamesDiffer) { EXPECT_NE(make_attempt_name(), make_attempt_name()); }

/// Runs `write("child", 0, 6)` in a child with a fault; how it ended.
class JournalFaultTest : public JournalTest {
 protected:
  struct End {
    int status;
    std::uint64_t acknowledged;
  };
  End run_child(const std::string& fault) {
    int pipe_ends[2];
    EXPECT_EQ(::pipe(pipe_ends), 0);
    const auto child = ::fork();
    if (child == 0) {
      base::set_faults(fault);
      int status = 0;
      try {
        JournalWriter writer(directory, header("child"));
        for (std::uint64_t block = 0; block < 6; ++block) {
          writer.stage(id_of(block), payload_of(block));
          writer.commit();
          status = ::write(pipe_ends[1], "+", 1) == 1 ? 0 : 9;
        }
      } catch (const base::Error& error) {
        status = std::string(error.what()).find("finished blocks are kept") == std::string::npos ? 8 : 4;
      }
      ::_exit(status);
    }
    ::close(pipe_ends[1]);
    End end{0, 0};
    char mark = 0;
    while (::read(pipe_ends[0], &mark, 1) == 1) {
      ++end.acknowledged;
    }
    ::close(pipe_ends[0]);
    ::waitpid(child, &end.status, 0);
    return end;
  }
};

/// The crash loop: fail the n-th operation, n = 1, 2, ... until nothing fails any more.
TEST_F(JournalFaultTest, FailureOfEveryOperationLosesNothingAcknowledged) {
  for (const std::string point : {"journal_write", "journal_sync"}) {
    for (const std::string action : {"kill", "exit", "eio", "enospc", "short"}) {
      bool failed = true;
      int pass = 0;
      while (failed) {
        ++pass;
        ASSERT_LT(pass, 50);
        fs::remove_all(directory / "journal");
        const auto end = run_child(point + ":" + std::to_string(pass) + ":" + action);
        failed = !(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0);
        const auto expected = action == "kill" ? SIGKILL : (action == "exit" ? 3 << 8 : 4 << 8);
        ASSERT_EQ(end.status, failed ? expected : 0) << point << pass << action;
        const auto store = JournalStore::open(directory);
        const auto found = check(store);
        ASSERT_GE(found, end.acknowledged) << point << pass << action;
        ASSERT_LE(found, end.acknowledged + 1);
        ASSERT_THAT(store.damage(), SizeIs(0));
        ASSERT_TRUE(failed || found == 6);
      }
      EXPECT_EQ(pass, action == "short" ? 1 : point == "journal_write" ? 8 : 7) << point << action;
    }
  }
}

}  // namespace
}  // namespace stereosweep::results
