#include "base/files/HubCache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string first_commit(40, 'a');
const std::string second_commit(40, 'b');

/// A cache that HF_HUB_CACHE names.
class HubCacheTest : public ::testing::Test {
 protected:
  HubCacheTest() { ::setenv("HF_HUB_CACHE", cache_.c_str(), 1); }
  ~HubCacheTest() override { ::unsetenv("HF_HUB_CACHE"); }

  std::filesystem::path add(const std::string& folder, const std::string& commit, const std::string& ref) {
    const auto directory = cache_ / folder / "snapshots" / commit;
    std::filesystem::create_directories(directory);
    write_file_atomically(directory / "config.json", "{}");
    const auto file = cache_ / folder / "refs" / ref;
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, commit + "\n");
    return directory;
  }

  std::string refused(const std::string& model) {
    try {
      checkpoint_directory(model);
    } catch (const InputError& error) {
      return error.what();
    }
    return "found";
  }

  testing::TemporaryDirectory directory_;
  std::filesystem::path cache_ = directory_.path() / "hub";
};

TEST_F(HubCacheTest, FindsBranchesTagsAndCommits) {
  const auto old = add("models--org--model", first_commit, "v1.0");
  const auto now = add("models--org--model", second_commit, "main");
  add("models--org--model", second_commit, "refs/pr/7");
  EXPECT_EQ(checkpoint_directory("org/model"), now);
  EXPECT_EQ(checkpoint_directory("org/model@v1.0"), old);
  EXPECT_EQ(checkpoint_directory("org/model@refs/pr/7"), now);
  EXPECT_EQ(checkpoint_directory("org/model@" + first_commit), old);
  EXPECT_EQ(find_in_hub_cache({"org/model", "main"}).value().commit, second_commit);
  const auto alone = add("models--gpt2", first_commit, "main");
  EXPECT_EQ(checkpoint_directory("gpt2"), alone);
}

TEST_F(HubCacheTest, ListsEveryRevisionWithItsNames) {
  add("models--org--model", second_commit, "main");
  add("models--org--model", second_commit, "latest");
  add("models--org--model", first_commit, "v1");
  add("models--gpt2", first_commit, "main");
  add("datasets--org--data", first_commit, "main");
  std::filesystem::create_directories(cache_ / "models--org--model" / "snapshots" / "no-commit");
  const auto found = list_hub_cache(cache_);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "gpt2");
  EXPECT_EQ(found[1].commit, first_commit);
  EXPECT_THAT(found[1].refs, ElementsAre("v1"));
  EXPECT_THAT(found[2].refs, ElementsAre("latest", "main"));
  EXPECT_THAT(list_hub_cache(cache_ / "missing"), IsEmpty());
}

TEST_F(HubCacheTest, WhatIsMissingIsToldWithTheCommandThatFetchesIt) {
  add("models--google-bert--bert-base-uncased", first_commit, "main");
  EXPECT_THAT(refused("org/other"), HasSubstr("Fetch it: hf download org/other --include \"*.json\""));
  EXPECT_THAT(refused("org/other@v2"), HasSubstr("hf download org/other --revision v2 --include"));
  EXPECT_THAT(refused("bert-base-uncased"), HasSubstr("Did you mean 'google-bert/bert-base-uncased'? Fetch it"));
  EXPECT_THAT(refused("google-bert/bert-base-uncasde"), HasSubstr("Did you mean 'google-bert/bert-base-uncased'?"));
}

TEST_F(HubCacheTest, ARefThatIsNoCommitLeadsNowhere) {
  add("models--org--model", first_commit, "main");
  write_file_atomically(cache_ / "models--org--model" / "refs" / "main", "../../../../etc");
  EXPECT_THAT(refused("org/model"), HasSubstr("there is no model 'org/model'"));
  write_file_atomically(cache_ / "models--org--model" / "refs" / "main", second_commit);  // its snapshot was deleted
  EXPECT_THAT(refused("org/model"), HasSubstr("there is no model 'org/model'"));
}

TEST_F(HubCacheTest, NamesThatTheHubCannotHaveArePaths) {
  for (const std::string text : {"",
                                 "/",
                                 "/org/model",
                                 "org/",
                                 "/model",
                                 "org//model",
                                 "../model",
                                 "org/..",
                                 ".",
                                 "..",
                                 "org/model/part",
                                 "./model",
                                 "org/a b",
                                 "org/a--b",
                                 "org/a..b",
                                 "-org/model",
                                 "org/model@",
                                 "org/model@../main",
                                 "org/model@/main",
                                 "org/model@a//b",
                                 "org/model@a@b",
                                 "org/mod\nel",
                                 "~/model"}) {
    EXPECT_FALSE(parse_hub_name(text)) << text;
    EXPECT_EQ(checkpoint_directory(text), text);
  }
  EXPECT_FALSE(parse_hub_name(std::string(97, 'a')));
  EXPECT_EQ(parse_hub_name("org/Model_1.5-b").value().revision, "main");
}

TEST_F(HubCacheTest, ADirectoryOfThatNameWins) {
  add("models--org--model", first_commit, "main");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path());
  std::filesystem::create_directories("org/model");
  EXPECT_EQ(checkpoint_directory("org/model"), "org/model");
  std::filesystem::current_path(before);
}

TEST_F(HubCacheTest, TheEnvironmentNamesTheCache) {
  EXPECT_EQ(hub_cache(), cache_);
  ::unsetenv("HF_HUB_CACHE");
  ::setenv("HF_HOME", "/somewhere", 1);
  EXPECT_EQ(hub_cache(), "/somewhere/hub");
  ::unsetenv("HF_HOME");
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(hub_cache(), "/caches/huggingface/hub");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(hub_cache(), std::string(std::getenv("HOME")) + "/.cache/huggingface/hub");
}

TEST_F(HubCacheTest, ASnapshotKnowsItsCommand) {
  const auto directory = add("models--org--model", first_commit, "main");
  EXPECT_THAT(download_suggestion(directory), HasSubstr("hf download org/model --revision " + first_commit));
  EXPECT_EQ(download_suggestion("/models/bert"), "");
}

}  // namespace
}  // namespace stereosweep::base
