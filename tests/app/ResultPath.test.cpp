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
  EXPECT_THAT(refusal(folder / "job.yaml"), HasSubstr("is a job (what its run left is read here). Give its run "
                                                      "directory: results/NAME"));
  EXPECT_THAT(refusal(folder / "job.resolved.yaml"), HasSubstr("Give its run directory: " + folder.string() + "."));
}

TEST_F(ResultPath, ARunThatIsNotExportedIsNoFolderOfRuns) {
  write("status.json");
  write("older/status.json");
  EXPECT_THAT(refusal(folder), HasSubstr("the run is not finished"));
  write("job.resolved.yaml");
  EXPECT_NO_THROW(require_run(folder));
}

TEST_F(ResultPath, TheNameOfASweepMeansItsRuns) {
  write("sw.b/status.json");
  write("sw.a/job.resolved.yaml");
  write("sw.c/other");
  write("swan.a/status.json");
  const auto name = folder / "sw";
  EXPECT_THAT(runs_in(name), ::testing::ElementsAre(folder / "sw.a", folder / "sw.b"));
  EXPECT_THAT(runs_in(folder / "sw.a"), ::testing::IsEmpty());
  EXPECT_THAT(runs_of({name.string(), (folder / "swan.a").string()}),
              ::testing::ElementsAre(folder / "sw.a", folder / "sw.b", folder / "swan.a"));
  EXPECT_THAT(refusal(name), HasSubstr("it means 2 runs: "));
  EXPECT_EQ(beside_runs({name.string()}, "runs.stats.h5"), folder / "sw.runs.stats.h5");
  EXPECT_EQ(beside_runs({folder.string()}, "runs.stats.h5"), folder / "runs.stats.h5");
  EXPECT_EQ(beside_runs({(folder / "sw.a").string(), (folder / "swan.a/").string()}, "runs.stats.h5"),
            folder / "sw.a+swan.a.runs.stats.h5");
}

TEST_F(ResultPath, WhatIsNoRunSaysWhatToGive) {
  const std::string advice = "Give the folder that 'stereosweep run' wrote: results/NAME.";
  write("folder/some.txt");
  EXPECT_THAT(refusal(folder / "folder"), HasSubstr("(it is no run directory). " + advice));
  EXPECT_THAT(refusal(folder / "nothing"), HasSubstr("(it does not exist or cannot be read). " + advice));
}

TEST_F(ResultPath, AFolderOfRunsNamesThem) {
  write("b/status.json");
  write("a/job.resolved.yaml");
  write("notes/text");
  const auto inside = folder.string();
  EXPECT_THAT(refusal(folder), HasSubstr("it means 2 runs: " + inside + "/a, " + inside + "/b"));
  EXPECT_THAT([&] { require_run(folder); }, ::testing::ThrowsMessage<base::InputError>(HasSubstr("it means 2 runs")));
  for (const auto* name : {"notes", "none"}) {
    EXPECT_THAT([&] { require_run(folder / name); },
                ::testing::ThrowsMessage<base::InputError>(HasSubstr("no run in")));
  }
}

}  // namespace
}  // namespace stereosweep::app
