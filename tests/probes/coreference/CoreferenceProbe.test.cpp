#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/Error.hpp"
#include "engine/FakeEngine.hpp"
#include "probes/ChangedKeys.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/coreference/Coreference.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::coreference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CoreferenceSentence sentence(const std::string& label, const std::string& pronoun) {
  CoreferenceSentence result;
  result.label = label;
  result.text = "The doctor saw the old woman because " + pronoun + " sang.";
  result.mentions = {Mention{{0, 3}, {4, 10}}, Mention{{15, 18}, {19, 28}}};
  result.pronoun = {37, 37 + pronoun.size()};
  result.gender = pronoun == "he" ? Gender::male : Gender::female;
  result.bracketed = 1;
  result.pair = "a";
  return result;
}

sweep::Job small_job() {
  sweep::Job job;
  job.name = "small";
  Coreference settings;
  settings.sentences = {sentence("a", "he"), sentence("b", "she"), sentence("c", "he")};
  settings.sentences[2].notes = {SentenceNote::repeated};
  settings.excluded = {SentenceNote::repeated};
  settings.markers = {{"kind", "", Privilege::unstated, ""}};
  settings.augmentations = {Augmentation::baseline, Augmentation::aug1};
  settings.questions = {{"q", "{sentence} \"{pronoun}\" is the"}, {"r", "{sentence} so \"{pronoun}\" is the"}};
  job.probe = settings;
  job.execution.contexts_per_block = 4;
  return job;
}

class CoreferenceProbeTest : public ::testing::Test {
 protected:
  tokenizer::Tokenizer tokenizer_ = testing::byte_level();
  CoreferenceProbe probe_{small_job(), tokenizer_};
};

TEST_F(CoreferenceProbeTest, AxesAndBlocks) {
  const auto& schema = probe_.schema();
  EXPECT_EQ(schema.num_priors, 0U);
  ASSERT_EQ(schema.outer_axes.size(), 3U);
  EXPECT_THAT(schema.outer_axes[0].labels, ElementsAre("baseline", "aug1 kind"));
  EXPECT_THAT(schema.outer_axes[1].labels, ElementsAre("q", "r"));
  EXPECT_THAT(schema.outer_axes[2].labels, ElementsAre("a", "b", "c"));
  EXPECT_EQ(probe_.blocks().num_blocks(), 4U) << "six contexts of each condition in blocks of four";
}

TEST_F(CoreferenceProbeTest, AsksEveryContextThatIsNotExcluded) {
  const auto round = probe_.first(probe_.blocks().block(2));
  ASSERT_EQ(round.queries.size(), 3U) << "contexts a, b, c, a of the second condition";
  const auto& asked = std::get<query::Continue>(round.queries.front());
  EXPECT_EQ(asked.prompt, "The doctor saw the kind old woman because he sang. \"he\" is the");
  EXPECT_THAT(asked.continuations, ElementsAre(" old woman", " doctor")) << "the referent is the bracketed one";
}

TEST_F(CoreferenceProbeTest, FoldsEveryAnswerIntoItsPlace) {
  const auto block = probe_.blocks().block(0);
  Transcript transcript;
  transcript.rounds = {probe_.first(block)};
  engine::FakeEngine engine(tokenizer_, 1);
  transcript.answers = {engine.answer(transcript.rounds[0].queries)};
  transcript.answers[0][1] = query::QueryError{"beyond the positions", query::QueryFault::too_long};
  auto& broken = std::get<query::ContinueAnswer>(transcript.answers[0][2]);
  broken.logprob[1].back() = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(probe_.next(block, transcript), std::nullopt);
  const auto raw = probe_.fold(block, transcript);
  const auto& logprob = std::get<std::vector<double>>(raw.columns[0]);
  const auto& counts = std::get<std::vector<std::int32_t>>(raw.columns[1]);
  const auto& statuses = std::get<std::vector<std::uint8_t>>(raw.columns[2]);
  const auto& problems = std::get<std::vector<std::string>>(raw.columns[4]);
  const auto width = probe_.max_subwords();
  const auto& first = std::get<query::ContinueAnswer>(transcript.answers[0][0]).logprob;
  for (std::size_t role = 0; role < 2; ++role) {
    ASSERT_EQ(static_cast<std::size_t>(counts[role]), first[role].size());
    for (std::size_t k = 0; k < width; ++k) {
      const double value = logprob[role * width + k];
      if (k < first[role].size()) {
        EXPECT_EQ(value, first[role][k]);
      } else {
        EXPECT_TRUE(std::isnan(value));
      }
    }
  }
  const auto status = [&](CoreferenceStatus name) { return static_cast<std::uint8_t>(name); };
  const auto ok = status(CoreferenceStatus::ok);
  EXPECT_THAT(statuses, ElementsAre(ok, ok, status(CoreferenceStatus::too_long), status(CoreferenceStatus::too_long),
                                    status(CoreferenceStatus::excluded), status(CoreferenceStatus::excluded), ok,
                                    status(CoreferenceStatus::not_finite)));
  EXPECT_THAT(problems, ElementsAre("", "beyond the positions", HasSubstr("repeated"), ""));
}

TEST_F(CoreferenceProbeTest, TheSubwordAxisHoldsTheLongestOccupation) {
  const auto pieces = tokenizer_.encode(" old woman", tokenizer::SpecialTokens::leave_out).ids.size();
  EXPECT_GE(probe_.max_subwords(), pieces);
}

TEST_F(CoreferenceProbeTest, KeysFollowTheContent) {
  const auto keys = [&](const sweep::Job& job) {
    const CoreferenceProbe probe(job, tokenizer_);
    std::set<base::Digest> result;
    for (std::uint64_t i = 0; i < probe.blocks().num_blocks(); ++i) {
      result.insert(block_key(probe, probe.blocks().block(i), {}));
    }
    return result;
  };
  const auto before = keys(small_job());
  auto more = small_job();
  more.settings<probes::coreference::Coreference>().markers.push_back({"cold", "", Privilege::unstated, ""});
  const auto after = keys(more);
  EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end())) << "a marker added later";
  auto other = small_job();
  other.settings<probes::coreference::Coreference>().ambiguous_referent = AmbiguousReferent::first;
  for (const auto& key : keys(other)) {
    EXPECT_FALSE(before.contains(key));
  }
}

TEST_F(CoreferenceProbeTest, RefusesJobsThatAskNothing) {
  auto job = small_job();
  job.settings<probes::coreference::Coreference>().sentences.clear();
  job.settings<probes::coreference::Coreference>().augmentations = {Augmentation::aug3a};
  try {
    make_probe(job, tokenizer_);
    FAIL() << "an empty product was accepted";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("axes.sentences"));
    EXPECT_THAT(error.what(), HasSubstr("axes.augmentations"));
  }
}

/// A value that no block's key depends on changes no raw number: each is listed here.
TEST(CoreferenceBlocks, every_setting_is_in_the_keys_of_its_blocks) {
  const auto job = small_job();
  static const auto tokenizer = testing::byte_level();
  const auto changed = testing::KeyChanger(job, [](const sweep::Job& other) {
                         return testing::keys_of(CoreferenceProbe(other, tokenizer));
                       }).change({"axes"});
  EXPECT_THAT(changed.seen,
              ::testing::IsSupersetOf(std::vector<std::string>{"axes.markers[].word", "axes.questions[].text"}));
  EXPECT_THAT(changed.unseen, ::testing::UnorderedElementsAre("axes.questions[].label", "axes.sentences[].case",
                                                              "axes.sentences[].label", "axes.sentences[].stereotype",
                                                              "axes.sentences[].type"));
}

}  // namespace
}  // namespace stereosweep::probes::coreference
