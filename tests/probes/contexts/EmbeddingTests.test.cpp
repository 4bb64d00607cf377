// Words of tests: lists, missing words, trimmed sets, schema coordinates.
#include "probes/contexts/effects/EmbeddingTests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/Error.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"

namespace stereosweep::probes::contexts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EmbeddingTest flowers() {
  return {"C1",
          "flowers and insects",
          EmbeddingTest::Kind::weat,
          {"flowers", {"rose", "lily", "aster"}},
          {"insects", {"ant", "bee"}},
          {"pleasant", {"love", "joy"}},
          {"unpleasant", {"pain"}}};
}

std::vector<WordVectors> words_with(const std::vector<EmbeddingTest>& tests, const std::string& missing) {
  std::vector<WordVectors> words;
  for (const auto& word : list_words(tests)) {
    const auto stored = word == missing ? 0U : 4U;
    words.push_back({word, 7, stored, stored, {}});
  }
  return words;
}

TEST(EmbeddingTests, ListsEveryWordOnceInOrder) {
  auto second = flowers();
  second.x.words = {"daisy", "lily"};
  EXPECT_THAT(list_words({flowers(), second}),
              ElementsAre("rose", "lily", "aster", "ant", "bee", "love", "joy", "pain", "daisy"));
}

TEST(EmbeddingTests, NamesMissingWordsAndWhatFollows) {
  Contexts settings;
  settings.tests = {flowers()};
  const auto used = tests_in_use(settings, 1, words_with(settings.tests, "aster")).front();
  EXPECT_THAT(used.sets[0], ElementsAre(0, 1));
  EXPECT_THAT(used.sets[2], ElementsAre(5, 6));
  EXPECT_EQ(used.consequence(), "x without aster (no vector)");
  const auto without_b = tests_in_use(settings, 1, words_with(settings.tests, "pain")).front();
  EXPECT_THAT(without_b.consequence(), HasSubstr("cannot be computed: set b has no word with a vector"));
}

TEST(EmbeddingTests, SaysWhereMostOfASetIsLost) {
  Contexts settings;
  settings.tests = {flowers()};
  settings.tests[0].x.words = {"rose", "lily", "aster", "daisy", "poppy"};
  auto words = words_with(settings.tests, "aster");
  EXPECT_FALSE(tests_in_use(settings, 1, words).front().is_doubtful());
  words[1] = {"lily", 0, 0, 0, {}};
  words[3] = {"daisy", 0, 0, 0, {}};
  const auto used = tests_in_use(settings, 1, words).front();
  EXPECT_TRUE(used.is_doubtful());
  EXPECT_EQ(used.consequence(),
            "x without lily, aster, daisy (no vector); only 2 of 5 words in x: the effect says little about the whole "
            "set; no p of relabelling below 1/6 is possible");
}

TEST(EmbeddingTests, SaysWhereOneWordIsLeftAgainstOne) {
  Contexts settings;
  settings.tests = {flowers()};
  settings.tests[0].x.words = {"rose", "aster"};
  auto words = words_with(settings.tests, "aster");
  words[2] = {"ant", 0, 0, 0, {}};
  const auto used = tests_in_use(settings, 1, words).front();
  EXPECT_TRUE(used.is_doubtful());
  EXPECT_EQ(used.consequence(),
            "x without aster (no vector); y without ant (no vector); one word against one: every "
            "effect is 1.41 or -1.41");
}

TEST(EmbeddingTests, SaysWhereAllSamplesAreTheSame) {
  Contexts settings;
  settings.tests = {flowers()};
  auto words = words_with(settings.tests, "");
  for (auto& word : words) {
    word.stored = word.usable = 1;
  }
  const auto used = tests_in_use(settings, 1, words).front();
  EXPECT_TRUE(used.is_doubtful());
  EXPECT_THAT(used.consequence(), HasSubstr("all samples are the same"));
  words.back().stored = words.back().usable = 2;
  EXPECT_EQ(tests_in_use(settings, 1, words).front().consequence(), "all words");
  settings.vectors = StaticVectors{};
  words.back().stored = words.back().usable = 1;
  EXPECT_EQ(tests_in_use(settings, 1, words).front().consequence(), "all words");
}

TEST(EmbeddingTests, CountsContextsWithoutAVectorByWord) {
  Contexts settings;
  settings.tests = {flowers()};
  auto words = words_with(settings.tests, "");
  words[0] = {"rose", 1200, 1000, 1, {}};
  words[3] = {"ant", 12, 12, 0, {}};
  const auto used = tests_in_use(settings, 1, words).front();
  EXPECT_TRUE(used.is_doubtful());
  EXPECT_THAT(used.consequence(), HasSubstr("contexts without a vector: rose 999 of 1,000, ant 12 of 12 ("));
  EXPECT_THAT(used.consequence(), HasSubstr("vectors.window"));
}

TEST(EmbeddingTests, NamesTargetsThatAreAttributes) {
  Contexts settings;
  settings.tests = {flowers()};
  settings.tests[0].a.words = {"love", "rose", "LILY"};
  const auto used = tests_in_use(settings, 1, words_with(settings.tests, "")).front();
  EXPECT_THAT(used.sets[2], ElementsAre(5, 0, 6));  // rose is a flower, too: one word, one place
  EXPECT_TRUE(used.is_doubtful());
  EXPECT_THAT(used.consequence(), HasSubstr("targets that are attributes as well: rose ("));
  settings.vectors = StaticVectors{.file = "v", .letter_case = StaticVectors::Case::ignore};
  EXPECT_THAT(shared_words(settings, settings.tests[0]), HasSubstr("as well: rose, lily ("));
}

TEST(EmbeddingTests, TrimsTheLargerSetBySeedAndNameAlone) {
  Contexts settings;
  settings.unequal_sets = UnequalSets::trim;
  settings.tests = {flowers()};
  for (int i = 0; i < 20; ++i) {
    settings.tests[0].x.words.push_back("flower" + std::to_string(i));
  }
  const auto words = words_with(settings.tests, "");
  const auto first = tests_in_use(settings, 1, words).front();
  EXPECT_EQ(first.sets[0].size(), 2U);
  EXPECT_EQ(first.sets[1].size(), 2U);
  EXPECT_EQ(first.sets[2].size(), 1U);
  EXPECT_EQ(first.trimmed[0].size(), 21U);
  auto other = settings;
  other.tests.insert(other.tests.begin(), flowers());
  other.tests[0].label = "C0";
  const auto moved = tests_in_use(other, 1, words_with(other.tests, "")).back();
  EXPECT_EQ(moved.trimmed[0], first.trimmed[0]);
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    differs = differs || tests_in_use(settings, seed, words).front().trimmed[0] != first.trimmed[0];
  }
  EXPECT_TRUE(differs);
}

TEST(ContextsSchema, SaysWhoTakesPart) {
  Contexts settings;
  settings.tests = {flowers()};
  const auto words = words_with(settings.tests, "aster");
  const auto tests = tests_in_use(settings, 1, words);
  const auto schema = effects_schema(tests, words, 3);
  EXPECT_EQ(schema.inner_axis("target").labels.size(), 4U);
  EXPECT_EQ(schema.cubes.size(), 5U);
  const auto value = [&](const std::string& name) {
    for (const auto& coordinate : schema.outer_axes[0].coordinates) {
      if (coordinate.name == name) {
        return coordinate.values.front();
      }
    }
    return std::string("(none)");
  };
  EXPECT_EQ(value("kind"), "weat");
  EXPECT_THAT(words_of_coordinate(value("x_words")), ElementsAre("rose", "lily"));
  EXPECT_THAT(words_of_coordinate(value("missing")), ElementsAre("aster"));
  EXPECT_THAT(words_of_coordinate(value("trimmed")), IsEmpty());
  EXPECT_THROW(words_of_coordinate("{}"), base::Error);
  settings.tests[0].kind = EmbeddingTest::Kind::wefat;
  EXPECT_EQ(effects_schema(tests_in_use(settings, 1, words), words, 3).cubes.size(), 7U);  // word_effect, cosine
}

}  // namespace
}  // namespace stereosweep::probes::contexts
