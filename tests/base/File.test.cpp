#include "base/files/File.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>

#include "base/Error.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {

namespace {

class FileTest : public ::testing::Test {
 protected:
  testing::TemporaryDirectory directory_;
  const std::filesystem::path& folder_ = directory_.path();
};

TEST_F(FileTest, AtomicWriteReplacesAndLeavesNothingBehind) {
  write_file_atomically(folder_ / "a", "old");
  write_file_atomically(folder_ / "a", "new");
  EXPECT_EQ(read_file(folder_ / "a"), "new");
  const auto entries = std::distance(std::filesystem::directory_iterator(folder_), {});
  EXPECT_EQ(entries, 1);
}

TEST_F(FileTest, AtomicWriteIntoAMissingFolderNamesIt) {
  EXPECT_THROW(write_file_atomically(folder_ / "none" / "a", "x"), Error);
}

TEST_F(FileTest, ReadRefusesMissingFoldersPipesAndTooLarge) {
  EXPECT_THROW(read_file(folder_ / "missing"), InputError);
  EXPECT_THROW(read_file(folder_), Error);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_file(folder_ / "pipe"), InputError);
  write_file_atomically(folder_ / "big", std::string(100, 'x'));
  EXPECT_THROW(read_file(folder_ / "big", 99), InputError);
  EXPECT_EQ(read_file(folder_ / "big", 100).size(), 100u);
}

TEST_F(FileTest, CheckpointFilesAreReadByKindAndWeightsOnlyOnRequest) {
  write_file_atomically(folder_ / "config.json", "{}");
  write_file_atomically(folder_ / "model.safetensors", "12345678");
  write_file_atomically(folder_ / "notes.md", "no part of a checkpoint");
  for (const auto* name :
       {"generation_config.json", "special_tokens_map.json", "chat_template.jinja", "merges.txt", "tokenizer.model"}) {
    write_file_atomically(folder_ / name, name);
  }
  const auto small = read_checkpoint_files(folder_, CheckpointPart::small_files);
  EXPECT_EQ(small.at("config.json").text(), "{}");
  EXPECT_EQ(small.find("model.safetensors"), nullptr);
  EXPECT_EQ(small.find("notes.md"), nullptr);
  EXPECT_EQ(small.files().size(), 6U);
  EXPECT_EQ(small.at("chat_template.jinja").text(), "chat_template.jinja");
  EXPECT_EQ(small.at("tokenizer.model").text(), "tokenizer.model");
  const auto all = read_checkpoint_files(folder_, CheckpointPart::all_files);
  EXPECT_EQ(all.at("model.safetensors").mapped().text(), "12345678");
  EXPECT_THROW(all.at("tokenizer.json"), InputError);
  EXPECT_THROW(read_checkpoint_files(folder_ / "none", CheckpointPart::small_files), InputError);
}

/// Pages of the range that are resident, as the kernel says.
std::int64_t resident_pages(std::span<const std::byte> bytes) {
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  std::string line;
  bool ours = false;
  while (std::getline(smaps, line)) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    std::int64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      ours = from <= begin && begin < to;
    } else if (ours && std::sscanf(line.c_str(), "Rss: %ld kB", &kilobytes) == 1) {
      return kilobytes * 1024 / ::sysconf(_SC_PAGESIZE);
    }
  }
  return -1;
}

TEST_F(FileTest, PagesOfAMappingDoNotStayResidentBehindItsReader) {
  const std::string content(std::size_t{1} << 20, 'x');
  write_file_atomically(folder_ / "large", content);
  const auto mapped = open_file(folder_ / "large").mapped();
  ASSERT_EQ(mapped.text(), content);
  ASSERT_GT(resident_pages(mapped.bytes()), 200);
  std::string copy(content.size() - 1, ' ');
  mapped.read(1, std::as_writable_bytes(std::span(copy)));
  EXPECT_EQ(copy, content.substr(1));
  EXPECT_LE(resident_pages(mapped.bytes()), 1);  // the first page is cut, so it stays
  EXPECT_EQ(mapped.text(), content);
}

// As a mapping it would end the process with SIGBUS.
TEST_F(FileTest, AFileThatIsCutShortWhileItIsReadIsAnError) {
  write_file_atomically(folder_ / "model.safetensors", std::string(100'000, 'x'));
  const auto files = read_checkpoint_files(folder_, CheckpointPart::all_files);
  const auto& weights = files.at("model.safetensors");
  std::string part(50'000, ' ');
  weights.read(50'000, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, std::string(50'000, 'x'));
  std::filesystem::resize_file(folder_ / "model.safetensors", 60'000);
  try {
    weights.read(50'000, std::as_writable_bytes(std::span(part)));
    FAIL() << "nothing noticed";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("model.safetensors (it became shorter"), std::string::npos)
        << error.what();
  }
}

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FileSet directory(std::initializer_list<const char*> names) {
  FileSet files("model");
  for (const auto* name : names) {
    files.add(name, to_shared(""));
  }
  return files;
}

TEST(ElmoFiles, PublishedNamesAreFound) {
  for (const auto& files :
       {directory({"elmo_2x4096_options.json", "elmo_2x4096_weights.hdf5"}),
        directory({"options.json", "lm_weights.hdf5"}), directory({"options.json", "weights.hdf5"})}) {
    EXPECT_TRUE(is_elmo(files));
    EXPECT_NE(files.find(find_elmo_options(files)), nullptr);
    EXPECT_NE(files.find(find_elmo_weights(files)), nullptr);
  }
}

TEST(ElmoFiles, OtherDirectoriesAreNone) {
  EXPECT_FALSE(is_elmo(directory({"config.json", "some_options.json", "weights.hdf5"})));
  EXPECT_FALSE(is_elmo(directory({"weights.hdf5"})));
  EXPECT_FALSE(is_elmo(directory({"myoptions.json"})));
}

TEST(ElmoFiles, NoneOrSeveralAreRefusedByName) {
  const auto several = directory({"options.json", "a_options.json", "a_weights.hdf5", "weights.hdf5"});
  EXPECT_THAT([&] { find_elmo_options(several); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("a_options.json"), HasSubstr("and options.json"))));
  EXPECT_THAT([&] { find_elmo_weights(several); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("a_weights.hdf5"), HasSubstr("and weights.hdf5"))));
  EXPECT_THAT([] { find_elmo_weights(directory({"options.json"})); },
              ThrowsMessage<InputError>(HasSubstr("model has no weights.hdf5")));
}

}  // namespace

}  // namespace stereosweep::base
