#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "config/yaml/Yaml.hpp"
#include "findings/runs/RunComparison.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

RunOrigin run_of(const std::string& job, const std::string& digest = "0123456789abcdef") {
  base::Problems problems;
  const auto node = config::parse_yaml(job, "job", problems);
  EXPECT_TRUE(problems.empty());
  const auto* probe = node.find("probe");
  return {.name = "job",
          .probe = probe == nullptr ? "" : probe->value,
          .digest = digest,
          .job_sha256 = job,
          .model_sha256 = "",
          .complete = "yes",
          .keys = keys_of(node)};
}

std::vector<std::string> labels_of_jobs(const std::vector<std::string>& jobs) {
  std::vector<RunOrigin> runs;
  for (const auto& job : jobs) {
    runs.push_back(run_of(job));
  }
  return run_axis(runs).labels;
}

std::vector<std::string> coordinate_names(const results::AxisSchema& axis) {
  std::vector<std::string> names;
  for (const auto& coordinate : axis.coordinates) {
    names.push_back(coordinate.name);
  }
  return names;
}

TEST(RunLabels, models_are_named_by_the_last_part_of_their_path) {
  EXPECT_THAT(labels_of_jobs({"model: {path: /a/bert}\n", "model: {path: /b/roberta/}\n"}),
              ElementsAre("bert", "roberta"));
}

TEST(RunLabels, models_with_one_last_part_keep_their_paths) {
  EXPECT_THAT(labels_of_jobs({"model: {path: /a/bert}\n", "model: {path: /b/bert}\n"}),
              ElementsAre("/a/bert", "/b/bert"));
}

TEST(RunLabels, the_fewest_keys_that_tell_all_apart) {
  EXPECT_THAT(labels_of_jobs({"seed: 1\nmodel: {path: /a/x}\n", "seed: 2\nmodel: {path: /a/x}\n",
                              "seed: 1\nmodel: {path: /a/y}\n"}),
              ElementsAre("model=x, seed=1", "model=x, seed=2", "model=y, seed=1"));
  EXPECT_THAT(labels_of_jobs({"seed: 1\nmodel: {path: x}\n", "seed: 2\nmodel: {path: y}\n"}), ElementsAre("x", "y"));
  EXPECT_THAT(labels_of_jobs({"seed: 1\n", "seed: 2\n"}), ElementsAre("seed=1", "seed=2"));
}

TEST(RunLabels, every_differing_key_is_a_coordinate) {
  const auto axis = run_axis(std::vector{run_of("name: a\nseed: 1\nmodel: {path: x, dtype: float32}\n"),
                                         run_of("name: b\nseed: 1\nmodel: {path: y, dtype: bfloat16}\nmore: 3\n")});
  EXPECT_THAT(axis.labels, ElementsAre("x", "y"));
  EXPECT_THAT(coordinate_names(axis), Contains("model_dtype"));
  EXPECT_THAT(coordinate_names(axis), Not(Contains("seed")));
  EXPECT_EQ(axis.coordinates.back().name, "more");
  EXPECT_THAT(axis.coordinates.back().values, ElementsAre("", "3"));
}

TEST(RunLabels, lists_are_named_by_what_not_all_runs_have) {
  const auto list = [](const std::string& last) {
    return "axes: {groups: [a long label of a group, another long label, " + last + "]}\n";
  };
  EXPECT_THAT(labels_of_jobs({list("x"), list("y, z, v, w"), list("x, z")}),
              ElementsAre("groups=x", "groups=y, z and 2 more", "groups=x, z"));
  EXPECT_THAT(labels_of_jobs({list("x"), list("x, y")}), ElementsAre("groups=3 entries", "groups=y"));
}

TEST(RunLabels, entries_of_several_keys_are_named_by_the_first) {
  const auto list = [](const std::string& plural, const std::string& singular) {
    return "axes: {groups: [{plural: women, singular: woman}, {plural: " + plural + ", singular: " + singular + "}]}\n";
  };
  EXPECT_THAT(labels_of_jobs({list("men", "man"), list("nurses", "nurse")}),
              ElementsAre("groups=men", "groups=nurses"));
  const auto labels = labels_of_jobs({list("men", "man"), list("men", "fellow")});  // what differs has no name
  EXPECT_THAT(labels[0], StartsWith("groups=women, men, #"));
  EXPECT_NE(labels[0], labels[1]);
}

TEST(RunLabels, equal_jobs_are_named_by_their_digests) {
  auto left = run_of("seed: 1\n", "aaaaaaaabbbb");
  const auto right = run_of("seed: 1\n", "ccccccccdddd");
  EXPECT_THAT(run_axis(std::vector{left, right}).labels, ElementsAre("aaaaaaaa", "cccccccc"));
  left.digest = right.digest;
  EXPECT_THROW(run_axis(std::vector{left, right}), base::InputError);
}

TEST(RunLabels, of_different_probes_only_common_keys_count) {
  const auto axis = run_axis(std::vector{run_of("probe: association\nmeasures: [set]\nseed: 1\n"),
                                         run_of("probe: contexts\nsamples: 10\nseed: 2\n")});
  EXPECT_THAT(axis.labels, ElementsAre("association", "contexts"));
  EXPECT_THAT(coordinate_names(axis), Not(Contains("samples")));
  EXPECT_THAT(coordinate_names(axis), Contains("seed"));
}

TEST(RunLabels, one_model_in_two_places_is_one_model) {
  auto left = run_of("seed: 1\nmodel: {path: /a/x}\n");
  auto right = run_of("seed: 2\nmodel: {path: /b/y}\n");
  left.model_sha256 = right.model_sha256 = "abc";
  EXPECT_THAT(run_axis(std::vector{left, right}).labels, ElementsAre("seed=1", "seed=2"));
}

TEST(RunLabels, keys_are_dotted) {
  EXPECT_THAT(run_of("schema: s\nname: n\nmodel: {path: /a, chat: {role: user}}\nlist: [1, 2]\n").keys,
              ElementsAre(Pair("model.path", "/a"), Pair("model.chat.role", "user"), Pair("list", "1, 2")));
}

}  // namespace
}  // namespace stereosweep::findings
