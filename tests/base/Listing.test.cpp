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
