#include "app/ResultPath.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/Error.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::app {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::filesystem::path& path) {
  try {
    return "accepted " + find_result(path).filename().string();
  } catch (const base::InputError& error) {
    return error.what();
  }
}

class ResultPath : public ::testing::Test {
 protected:
  void write(const std::string& name) const {
    const auto path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }
  stereosweep::testing::TemporaryDirectory temporary;
  std::filesystem::path folder = temporary.path();
};

TEST_F(ResultPath, FindsTheOneResult) {
  write("association.h5");
  write("association.stats.h5");
  write("contexts.vectors.h5");
  EXPECT_EQ(refusal(folder), "accepted association.h5");
  EXPECT_EQ(refusal(folder / "association.stats.h5"), "accepted association.stats.h5");
  write("contexts.h5");
  EXPECT_THAT(refusal(folder), HasSubstr("more than one result file"));
}

TEST_F(ResultPath, AJobIsNoResult) {
  write("job.yaml");
  EXPECT_THAT(refusal(folder / "job.yaml"), HasSubstr("is a job (what its run left is read here) Give its run "
                                                      "directory: results/NAME"));
  EXPECT_THAT(refusal(folder / "job.resolved.yaml"), HasSubstr("Give its run directory: " + folder.string() + "."));
}

TEST_F(ResultPath, ARunThatIsNotExportedIsNoFolderOfRuns) {
  write("status.json");
  write("older/status.json");
  EXPECT_THAT(refusal(folder), HasSubstr("the run is not finished"));
  EXPECT_NO_THROW(refuse_folder_of_runs(folder));
}

TEST_F(ResultPath, AFolderOfRunsNamesThem) {
  write("b/status.json");
  write("a/job.resolved.yaml");
  write("notes/text");
  const auto inside = folder.string();
  EXPECT_THAT(refusal(folder), HasSubstr("it holds 2 runs: " + inside + "/a, " + inside + "/b"));
  EXPECT_THROW(refuse_folder_of_runs(folder), base::InputError);
  EXPECT_NO_THROW(refuse_folder_of_runs(folder / "notes"));
  EXPECT_NO_THROW(refuse_folder_of_runs(folder / "none"));
}

}  // namespace
}  // namespace stereosweep::app
