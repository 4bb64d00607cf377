// Coreference jobs from files, pieces and lists; their dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/coreference/Coreference.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using probes::coreference::SentenceNote;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string coreference_job =
    "schema: stereosweep/1\nname: small\nmodel: {path: nowhere}\nprobe: coreference\naxes:\n"
    "  sentences: {files: [pro_type1.txt.dev, anti_type1.txt.dev]}\n"
    "  markers: [{word: White, attribute: race, privilege: privileged}, old,\n"
    "            {word: Black, attribute: race, privilege: disadvantaged}]\n"
    "  augmentations: [aug4, baseline]\n";

class CoreferenceJobTest : public ::testing::Test {
 protected:
  CoreferenceJobTest() {
    folder_.write("jobs/pro_type1.txt.dev",
                  "1 [The baker] saw the editor because [he] sang.\n2 The baker sent [the editor] [her] hat.\n");
    folder_.write("jobs/anti_type1.txt.dev",
                  "1 [The baker] saw the editor because [she] sang.\r\n\n3 The baker sent [the editor] [his] hat.\n");
  }
  JobFolder folder_;
};

TEST_F(CoreferenceJobTest, PartnersStandTogetherAndTellHerCase) {
  const auto settings = folder_.load(coreference_job).front().settings<probes::coreference::Coreference>();
  std::vector<std::string> labels;
  for (const auto& sentence : settings.sentences) {
    labels.push_back(sentence.label + " " + sentence.pair);
    EXPECT_THAT(sentence.notes, IsEmpty());
    EXPECT_EQ(sentence.split, "dev");
  }
  EXPECT_THAT(labels,
              ElementsAre("pro_type1.txt.dev:1 pro_type1.txt.dev:1", "anti_type1.txt.dev:1 pro_type1.txt.dev:1",
                          "pro_type1.txt.dev:2 pro_type1.txt.dev:2", "anti_type1.txt.dev:3 pro_type1.txt.dev:2"));
  EXPECT_EQ(settings.sentences[2].pronoun_case, probes::coreference::PronounCase::possessive);
  EXPECT_EQ(settings.sentences[1].stereotype, probes::coreference::Stereotype::anti);
  EXPECT_THAT(settings.augmentations,
              ElementsAre(probes::coreference::Augmentation::baseline, probes::coreference::Augmentation::aug4));
  EXPECT_EQ(settings.questions.size(), 1U);
  EXPECT_EQ(folder_.load(coreference_job).front().execution.contexts_per_block, 512);
  EXPECT_EQ(folder_.load(coreference_job).front().execution.batch_tokens, 4096);
}

TEST_F(CoreferenceJobTest, LoadsBackFromItsDump) {
  folder_.write(
      "jobs/pro_type1.txt.dev",
      "1 [The baker] saw the editor because [he] lost [his] 's hat.\n2 The baker sent the [editor] [her] hat.\n"
      "3 [The baker] saw the editor, a baker, because [he] she sang.\n"
      "4 [The baker] saw the editor, a baker, because [he] she sang.\n");
  auto job = folder_
                 .load(coreference_job +
                       "  exclude: [repeated]\n  ambiguous_referent: random\nstatistics:\n"
                       "  {ties: loss}\n")
                 .front();
  EXPECT_THAT(job.settings<probes::coreference::Coreference>().sentences[0].notes,
              Contains(SentenceNote::further_pronoun));
  const auto dump = canonical_dump(job);
  EXPECT_EQ(load_resolved(dump, "dump"), job) << dump;
  EXPECT_EQ(canonical_dump(load_resolved(dump, "dump")), dump);
}

TEST_F(CoreferenceJobTest, RawDumpHoldsWhatCanChangeANumberAndNothingElse) {
  const auto job = folder_.load(coreference_job).front();
  const auto raw = [&](auto change) {
    auto other = job;
    change(other.settings<probes::coreference::Coreference>());
    return canonical_raw_dump(other) == canonical_raw_dump(job);
  };
  EXPECT_TRUE(raw([](auto& settings) { settings.statistics.ties = stats::Ties::loss; }));
  EXPECT_FALSE(raw([](auto& settings) { settings.sentences.pop_back(); }));
  EXPECT_FALSE(raw([](auto& settings) { settings.sentences[0].text[0] = 't'; }));
  EXPECT_FALSE(raw([](auto& settings) { settings.markers[1].word = "young"; }));
  EXPECT_FALSE(raw([](auto& settings) { settings.markers[0].contrast = "c"; }));
  EXPECT_FALSE(raw([](auto& settings) { settings.augmentations.pop_back(); }));
  EXPECT_FALSE(raw([](auto& settings) { settings.questions[0].text += " one,"; }));
  EXPECT_FALSE(raw([](auto& settings) { settings.excluded = {SentenceNote::repeated}; }));
  EXPECT_FALSE(
      raw([](auto& settings) { settings.ambiguous_referent = probes::coreference::AmbiguousReferent::first; }));
}

TEST_F(CoreferenceJobTest, ReportsEveryProblemAtOnceWithItsLine) {
  folder_.write("jobs/anti_type1.txt.dev", "1 [The baker] saw the editor.\n2 [The baker] sang as [she] sang.\n");
  const auto text = folder_.complaint(coreference_job +
                                      "  exclude: [repeatd]\n  questions: ['{sentence} who']\n  colour: red\n"
                                      "priors: {word: false}\nstatistics: {ties: win, confidence: 2}\n");
  EXPECT_THAT(text, HasSubstr("anti_type1.txt.dev:1"));
  EXPECT_THAT(text, HasSubstr("anti_type1.txt.dev:2"));
  EXPECT_THAT(text, HasSubstr("Did you mean 'repeated'?"));
  EXPECT_THAT(text, HasSubstr("axes.questions[0]"));
  EXPECT_THAT(text, HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(text, HasSubstr("unknown key 'priors'"));
  EXPECT_THAT(text, HasSubstr("statistics.ties"));
  EXPECT_THAT(text, HasSubstr("statistics.confidence"));
}

TEST_F(CoreferenceJobTest, GroupsAndIntersectionsLoadBackFromTheirDump) {
  const auto job =
      folder_
          .load(coreference_job +
                "  groups: [{label: Catholics, domain: religion, plural: Catholics, adjective: Catholic}]\n"
                "  intersections: {domains: [[race, religion]], pairs: [[old, Black]], both_orders: false}\n")
          .front();
  const auto settings = job.settings<probes::coreference::Coreference>();
  EXPECT_EQ(settings.groups.size(), 1U);
  EXPECT_TRUE(settings.crosses());
  const auto dump = canonical_dump(job);
  EXPECT_EQ(load_resolved(dump, "dump"), job) << dump;
}

TEST_F(CoreferenceJobTest, AxesHaveTwoNames) {
  const auto job = with(coreference_job, "  sentences:", "  templates:");
  EXPECT_EQ(folder_.load(job).front(), folder_.load(coreference_job).front());
  EXPECT_THAT(folder_.complaint(job, {"axes.sentences=[]"}),
              HasSubstr("'axes.sentences' and 'axes.templates' are both given"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.questions=refers_to", "axes.rephrasings=refers_to"}),
              HasSubstr("'axes.questions' and 'axes.rephrasings' are both given"));
}

TEST_F(CoreferenceJobTest, IntersectionsThatWouldStandInNoPromptAreRefused) {
  const std::vector<std::string> only_pairs = {"axes.intersections={pairs: [[old, Black]]}",
                                               "axes.augmentations=[baseline, aug3a]"};
  EXPECT_THAT(folder_.complaint(coreference_job, only_pairs), HasSubstr("intersections that no prompt holds"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.intersections={pairs: [[old, Blak]]}"}),
              HasSubstr("Did you mean 'Black'?"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.groups=[{label: old, plural: x, adjective: aged}]"}),
              HasSubstr("'old' is a group and a marker"));
}

TEST_F(CoreferenceJobTest, MarkersThatWouldStandInNoPromptAreRefused) {
  const auto lone = with(coreference_job, "  augmentations: [aug4, baseline]\n", "");
  EXPECT_THAT(folder_.complaint(lone),
              HasSubstr("job.yaml:7:axes.markers: markers, and the key 'axes.augmentations' is missing"));
  EXPECT_EQ(folder_.complaint(lone, {"axes.augmentations=[baseline]"}), "");
  const auto missing = folder_.complaint(lone, {"axes.markers=nobody"});
  EXPECT_THAT(missing, HasSubstr("no piece 'nobody'"));
}

TEST_F(CoreferenceJobTest, Aug3NeedsPairsOfMarkers) {
  const auto asked = [&](const std::string& markers) {
    ::testing::internal::CaptureStderr();
    const auto complaint =
        folder_.complaint(coreference_job, {"axes.augmentations=[baseline, aug3a]", "axes.markers=[" + markers + "]"});
    return complaint + ::testing::internal::GetCapturedStderr();
  };
  const auto side = [](const std::string& word, const std::string& privilege, const std::string& more = "") {
    return "{word: " + word + ", attribute: race, privilege: " + privilege + more + "}";
  };
  EXPECT_EQ(asked(side("White", "privileged") + ", " + side("Black", "disadvantaged") + ", old"), "");
  EXPECT_THAT(asked("old, young"), HasSubstr("axes.augmentations: aug3 finds no pair of markers"));
  EXPECT_THAT(asked(side("White", "privileged", ", contrast: a") + ", " + side("Black", "disadvantaged")),
              HasSubstr("axes.augmentations: aug3 finds no partner for 'White', 'Black' of 'race' (aug3 pairs a "
                        "privileged and a disadvantaged marker of one attribute with the same 'contrast')"));
  const auto partly = asked(side("White", "privileged") + ", " + side("Black", "disadvantaged") + ", " +
                            side("Asian", "disadvantaged", ", contrast: b"));
  EXPECT_THAT(partly, HasSubstr("finds no partner for 'Asian' of 'race'"));
  EXPECT_EQ(partly.find("cannot be used"), std::string::npos) << partly;
}

TEST_F(CoreferenceJobTest, FilesMustSayWhatTheyHoldAndExist) {
  folder_.write("jobs/lines.txt", "x\n");
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.sentences={files: [lines.txt]}"}),
              HasSubstr("'type1' or 'type2'"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.sentences={files: [pro_type2.txt]}"}),
              HasSubstr("cannot be read"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"axes.markers=[{word: x, privilege: privileged}]"}),
              HasSubstr("no attribute"));
  EXPECT_THAT(folder_.complaint(coreference_job, {"execution.max_cells=3"}), HasSubstr("limit: 3 cells"));
}

/// The real files, where they are: what is unusual about them was counted before (anomalies.tsv of the seed data).
TEST_F(CoreferenceJobTest, TheFilesOfWinoBiasAreRead) {
  const std::filesystem::path data = std::filesystem::path(source_directory()) / "../shared/data/winobias";
  if (!std::filesystem::exists(data)) {
    GTEST_SKIP() << "no " << data << ": the files of WinoBias are not part of this repository";
  }
  const auto settings = folder_.load(coreference_job, {"axes.sentences={files: [" + data.string() + "]}"})
                            .front()
                            .settings<probes::coreference::Coreference>();
  ASSERT_EQ(settings.sentences.size(), 3168U);
  std::vector<int> counts(probes::coreference::sentence_note_names.size());
  int num_her = 0;
  int num_wrong = 0;
  for (const auto& sentence : settings.sentences) {
    for (const auto note : sentence.notes) {
      ++counts[static_cast<std::size_t>(note)];
    }
    const bool has_partner = std::ranges::find(sentence.notes, SentenceNote::no_partner) == sentence.notes.end();
    if (sentence.part(sentence.pronoun) == "her" && has_partner) {  // "his" or "him" has told
      ++num_her;
      num_wrong += probes::coreference::is_possessive_her(sentence.text, sentence.pronoun) !=
                   (sentence.pronoun_case == probes::coreference::PronounCase::possessive);
    }
  }
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::further_pronoun)], 87);
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::three_mentions)], 14);
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::first_referent)], 4);
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::bracket_edge)], 2);
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::repeated)], 6);
  EXPECT_EQ(counts[static_cast<std::size_t>(SentenceNote::spacing)], 140);
  EXPECT_GT(num_her, 700);
  EXPECT_LE(num_wrong * 15, num_her) << num_wrong << " of " << num_her;
}

}  // namespace
}  // namespace stereosweep::config
