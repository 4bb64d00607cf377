// What tells a changed corpus from an unchanged one.
#include "corpus/Files.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "corpus/Corpus.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::corpus {
namespace {

TEST(FileStates, NameWhatWasChanged) {
  const std::vector<FileState> before = {{"a.txt", 10, 1}, {"b.txt", 20, 2}, {"c.txt", 30, 3}};
  EXPECT_EQ(changes(before, before), "");
  EXPECT_EQ(changes(before, {{"a.txt", 1200, 1}, {"b.txt", 20, 9}, {"d.txt", 1, 1}}),
            "a.txt: 10 bytes became 1,200, b.txt was written at another time, c.txt is gone, d.txt is new");
  EXPECT_EQ(changes({}, {{"1", 0, 0}, {"2", 0, 0}, {"3", 0, 0}, {"4", 0, 0}, {"5", 0, 0}, {"6", 0, 0}, {"7", 0, 0}}),
            "1 is new, 2 is new, 3 is new, 4 is new, 5 is new and 2 files more");
}

TEST(FileStates, FollowTheFiles) {
  const testing::TemporaryDirectory directory;
  base::write_file_atomically(directory / "a.txt", "text");
  Corpus corpus;
  corpus.files = {directory.path().string()};
  const auto first = file_states(corpus);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].label, "a.txt");
  EXPECT_EQ(first[0].size, 4U);
  EXPECT_EQ(state_of(directory / "a.txt").modified, first[0].modified);
  const auto time = std::filesystem::last_write_time(directory / "a.txt");
  std::filesystem::last_write_time(directory / "a.txt", time + std::chrono::milliseconds(1));
  EXPECT_EQ(changes(first, file_states(corpus)), "a.txt was written at another time");
  EXPECT_THROW(state_of(directory / "b.txt"), base::InputError);
}

}  // namespace
}  // namespace stereosweep::corpus
