#include "base/files/Listing.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Listing, a_folder_lists_its_entries_and_a_tree_those_below_them) {
  const testing::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path() / "below");
  std::ofstream(folder.path() / "one") << "1";
  std::ofstream(folder.path() / "below" / "two") << "2";
  std::error_code error;
  EXPECT_THAT(entries_of(folder.path(), error), UnorderedElementsAre(folder.path() / "below", folder.path() / "one"));
  EXPECT_THAT(tree_of(folder.path(), error),
              UnorderedElementsAre(folder.path() / "below", folder.path() / "one", folder.path() / "below" / "two"));
  EXPECT_FALSE(error);
}

TEST(Listing, what_a_path_is_can_be_asked_of_any_path) {
  const testing::TemporaryDirectory folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "1";
  std::filesystem::create_symlink("nowhere", folder.path() / "link");
  EXPECT_TRUE(is_there(file) && is_file(file) && !is_folder(file));
  EXPECT_TRUE(is_there(folder.path()) && is_folder(folder.path()) && !is_file(folder.path()));
  for (const auto& path : {folder.path() / "gone", folder.path() / "link", file / "below", std::filesystem::path(),
                           std::filesystem::path(std::string(5000, 'x'))}) {
    EXPECT_FALSE(is_there(path) || is_folder(path) || is_file(path)) << path;
  }
}

TEST(Listing, what_cannot_be_listed_is_an_error_code) {
  const testing::TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "1";
  for (const auto& path : {folder.path() / "gone", folder.path() / "file"}) {
    std::error_code error;
    EXPECT_THAT(entries_of(path, error), IsEmpty());
    EXPECT_TRUE(error) << path;
    error.clear();
    EXPECT_THAT(tree_of(path, error), IsEmpty());
    EXPECT_TRUE(error) << path;
  }
}

}  // namespace
}  // namespace stereosweep::base
