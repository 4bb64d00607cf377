// Main of the program that holds all tests of a room: `test_ROOM File.test.cpp` runs those of one file, without an
// argument all run. A file without tests is a failure.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

// The filter that selects the suites of a file; empty where the file has none, or shares one with another file.
std::string filter_of(const std::string& file) {
  const auto& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const auto& suite = *all.GetTestSuite(i);
    int inside = 0;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      inside += std::filesystem::path(suite.GetTestInfo(j)->file()).filename() == file ? 1 : 0;
    }
    if (inside != 0 && inside != suite.total_test_count()) {
      std::fprintf(stderr, "suite %s is in %s and in another file: rename one\n", suite.name(), file.c_str());
      return "";
    }
    if (inside != 0) {
      filter += std::string(suite.name()) + ".*:";
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    const std::string filter = filter_of(argv[1]);
    if (filter.empty()) {
      std::fprintf(stderr, "no test of %s to run\n", argv[1]);
      return 1;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
