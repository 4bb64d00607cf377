// What lies between the stages of a job: sealed files, the list of words, journals in folders of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"
#include "probes/contexts/vectors/VectorStore.hpp"
#include "results/Journal.hpp"
#include "results/Seal.hpp"
#include "run/Settings.hpp"
#include "run/directory/RunDirectory.hpp"
#include "run/ranks/Messages.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;

probes::contexts::WordsFile some_words() {
  probes::contexts::WordsFile content{"{\"device\":\"fake\"}", 16, {1, 2, 3, 4}, {}};
  content.words.push_back({"snow drop", 9, 5, 4, base::sha256("one")});
  content.words.push_back({"", 0, 0, 0, base::sha256("")});
  return content;
}

TEST(WordsFileTest, ReadsBackAndSeesEveryDamage) {
  const testing::TemporaryDirectory directory;
  const auto file = directory / "contexts.words";
  EXPECT_FALSE(probes::contexts::read_words(file).has_value());
  results::write_sealed(file, encode(some_words()));
  const auto read = probes::contexts::read_words(file);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(encode(*read), encode(some_words()));
  EXPECT_EQ(read->words[0].word, "snow drop");
  EXPECT_EQ(read->cost.distinct_tokens, 3U);
  const auto content = base::read_file(file);
  for (std::size_t at = 0; at < content.size(); at += 7) {
    auto changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    base::write_file_atomically(file, changed);
    EXPECT_FALSE(probes::contexts::read_words(file).has_value()) << at;
  }
  base::write_file_atomically(file, content.substr(0, 40));
  EXPECT_FALSE(probes::contexts::read_words(file).has_value());
}

TEST(WordsFileTest, OtherBytesAreAnError) {
  EXPECT_THROW(probes::contexts::decode_words({}), base::Error);
  const auto bytes = encode(some_words());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(probes::contexts::decode_words(std::span(bytes).first(length)), base::Error) << length;
  }
}

TEST(SourceFileTest, ReadsBackAndRefusesOtherBytes) {
  const testing::TemporaryDirectory directory;
  const probes::contexts::SourceFile source{{std::byte{1}, std::byte{2}}, {{"a.txt", 3, -4}, {"b", 5, 6}}};
  const auto read = probes::contexts::decode_source(encode(source));
  EXPECT_EQ(read.content, source.content);
  EXPECT_EQ(read.files, source.files);
  EXPECT_THROW(probes::contexts::decode_source({}), base::Error);
  EXPECT_FALSE(probes::contexts::read_source_file(directory / "contexts.sample").has_value());
  results::write_sealed(directory / "contexts.sample", std::vector(9, std::byte{7}));  // of another version
  EXPECT_FALSE(probes::contexts::read_source_file(directory / "contexts.sample").has_value());
}

TEST(StoreAccessTest, WaitsForAFileThatAppearsLate) {
  const testing::TemporaryDirectory directory;
  const std::vector<probes::contexts::WordVectors> names = {{"rose", 1, 1, 0, {}}};
  const std::vector<float> vector = {1, 2, 3};
  const auto words = probes::contexts::write_vectors(directory / "hidden.bin", names, 3,
                                                     [&](const probes::contexts::AddVector& add) { add(0, vector); });
  base::write_file_atomically(directory / "vectors.bin", "an older one");
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    fs::rename(directory / "hidden.bin", directory / "vectors.bin");
  });
  const auto store = probes::contexts::open_store(directory / "vectors.bin", words, 3, Seconds(300));
  EXPECT_EQ(store->row(0, 0)[2], 3);
}

TEST(StoreAccessTest, GivesUpWithTheReason) {
  const testing::TemporaryDirectory directory;
  try {
    probes::contexts::open_store(directory / "vectors.bin", {}, 3, Seconds(0));
    FAIL() << "there is no file";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("vectors.bin"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("STEREOSWEEP_FILE_TIMEOUT_S"));
  }
}

TEST(StageJournalTest, StagesDoNotSeeEachOther) {
  const testing::TemporaryDirectory directory;
  const results::JournalHeader header{{}, "{}", "{}", "20260101T000000Z-1"};
  const std::vector<std::byte> payload(5);
  {
    results::JournalWriter writer(directory.path(), header, "vectors");
    writer.stage({base::sha256("a"), 3, 1, {}}, payload);
    writer.commit();
  }
  EXPECT_TRUE(fs::exists(directory / "journal/vectors/20260101T000000Z-1.log"));
  EXPECT_EQ(results::JournalStore::open(directory.path(), "vectors").records().size(), 1U);
  EXPECT_TRUE(results::JournalStore::open(directory.path(), "effects").attempts().empty());
  EXPECT_TRUE(results::JournalStore::open(directory.path()).attempts().empty());
}

TEST(StageJournalTest, BlocksThatWereCutOtherwiseAreRefused) {
  const testing::TemporaryDirectory directory;
  const results::JournalHeader header{{}, "{}", "{}", "20260101T000000Z-1"};
  {
    results::JournalWriter writer(directory.path(), header);
    writer.stage({base::sha256("a"), 3, 1, {}}, std::vector<std::byte>(5));
    writer.commit();
  }
  const auto store = results::JournalStore::open(directory.path());
  const sweep::Product product({8, 1, 1, 1});
  EXPECT_NO_THROW(require_blocks(store, sweep::BlockPlan(product, 8)));
  for (const std::uint64_t per_block : {2, 8}) {  // block 3 has another length, or there is none
    try {
      require_blocks(store, sweep::BlockPlan(product, per_block, sweep::Outermost::together));
      FAIL() << per_block;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("block 3 of 1 context: another version of the program"));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("--overwrite"));
    }
  }
}

TEST(StageSettingsTest, FieldsOfAStageAreNamedWhereTheyDiffer) {
  const RunSettings settings{"{\"device\":\"fake\"}"};
  const auto one = with_field(settings, "contexts.sample", "12");
  const auto two = with_field(settings, "contexts.sample", "34");
  EXPECT_EQ(settings_differences(one.text, two.text), std::vector<std::string>{"contexts.sample: 12, now 34"});
}

}  // namespace
}  // namespace stereosweep::run
