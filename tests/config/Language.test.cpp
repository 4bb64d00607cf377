#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/association/Association.hpp"
#include "probes/interview/Interview.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"
#include "sweep/Composer.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::config {
namespace {

using probes::association::Association;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string german_job =
    "schema: stereosweep/1\n"                                                                                     // 1
    "name: small\n"                                                                                               // 2
    "language: de\n"                                                                                              // 3
    "model: {path: nowhere}\n"                                                                                    // 4
    "probe: association\n"                                                                                        // 5
    "axes:\n"                                                                                                     // 6
    "  groups:\n"                                                                                                 // 7
    "    - {domain: job, singular: Arzt, plural: Ärzte, gender: masculine, adjective: ärztlich}\n"                // 8
    "    - {domain: job, singular: Ärztin, plural: Ärztinnen, gender: feminine}\n"                                // 9
    "    - {domain: age, singular: Kind, plural: Kinder, gender: neuter, suffix: im Kindesalter}\n"               // 10
    "    - {domain: age, singular: alter Mensch, plural: alte Menschen, article: ein}\n"                          // 11
    "  intersections: {pairs: [[Ärztinnen, Kinder], [Ärzte, alte Menschen]], both_orders: false, lexical:\n"      // 12
    "    [{first: Ärzte, second: Kinder, singular: Kinderärztin, plural: Kinderärztinnen, gender: feminine}]}\n"  // 13
    "  traits: [[schwach, stark]]\n"                                                                              // 14
    "  templates:\n"                                                                                              // 15
    "    - {label: plain, text: \"{group} sind {trait}.\"}\n"                                                     // 16
    "    - {label: all, text: \"Alle {group} sind {trait}.\"}\n"                                                  // 17
    "    - {label: one, text: \"{a group} ist {trait}.\"}\n"                                                      // 18
    "    - {label: late, text: \"hier wohnt {a group}, der {trait} ist.\"}\n"                                     // 19
    "  rephrasings: [\"Man sagt, {prompt}\", \"{prompt}\"]\n";                                                    // 20

/// With the table that is shipped.
class Languages : public ::testing::Test {
 protected:
  Languages() {
    const std::filesystem::path shipped = source_directory();
    folder_.write("configs/languages/de.yaml", read(shipped / "configs/languages/de.yaml"));
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Every prompt of the job, "schwach" in its place: [subject, template, rephrasing].
  static std::vector<std::string> prompts(const sweep::Job& job) {
    const auto& settings = job.settings<Association>();
    const auto& axes = settings.axes;
    const auto list =
        sweep::list_subjects(axes.groups, axes.intersections, {.singular = true, .plural = true}, settings.priors);
    std::vector<std::string> texts;
    for (const auto& subject : list.subjects) {
      for (const auto& sentence : axes.templates) {
        for (const auto& rephrasing : axes.rephrasings) {
          texts.push_back(sweep::with_trait(sweep::compose(subject, sentence, rephrasing, "[MASK]"), "schwach"));
        }
      }
    }
    return texts;
  }
  JobFolder folder_;
};

TEST_F(Languages, GermanSentencesAreWrittenByTheTable) {
  const auto texts = prompts(folder_.load(german_job).front());
  const std::vector<std::string> expected = {
      // the generic word, masculine
      "Man sagt, Menschen sind schwach.", "Menschen sind schwach.", "Man sagt, alle Menschen sind schwach.",
      "Alle Menschen sind schwach.", "Man sagt, ein Mensch ist schwach.", "Ein Mensch ist schwach.",
      "Man sagt, hier wohnt ein Mensch, der schwach ist.", "Hier wohnt ein Mensch, der schwach ist.",
      // the mask, with the generic word's article
      "Man sagt, [MASK] sind schwach.", "[MASK] sind schwach.", "Man sagt, alle [MASK] sind schwach.",
      "Alle [MASK] sind schwach.", "Man sagt, ein [MASK] ist schwach.", "Ein [MASK] ist schwach.",
      "Man sagt, hier wohnt ein [MASK], der schwach ist.", "Hier wohnt ein [MASK], der schwach ist.",
      "Man sagt, Ärzte sind schwach.", "Ärzte sind schwach.", "Man sagt, alle Ärzte sind schwach.",
      "Alle Ärzte sind schwach.", "Man sagt, ein Arzt ist schwach.", "Ein Arzt ist schwach.",
      "Man sagt, hier wohnt ein Arzt, der schwach ist.", "Hier wohnt ein Arzt, der schwach ist.",
      "Man sagt, Ärztinnen sind schwach.", "Ärztinnen sind schwach.", "Man sagt, alle Ärztinnen sind schwach.",
      "Alle Ärztinnen sind schwach.", "Man sagt, eine Ärztin ist schwach.", "Eine Ärztin ist schwach."};
  ASSERT_GT(texts.size(), expected.size());
  for (std::size_t place = 0; place < expected.size(); ++place) {
    EXPECT_EQ(texts[place], expected[place]);
  }
  EXPECT_THAT(texts, ::testing::Contains("Ein Kind ist schwach."));                    // neuter
  EXPECT_THAT(texts, ::testing::Contains("Ein alter Mensch ist schwach."));            // its own article
  EXPECT_THAT(texts, ::testing::Contains("Eine Ärztin im Kindesalter ist schwach."));  // the head noun's
  EXPECT_THAT(texts, ::testing::Contains("Ein ärztlich alter Mensch ist schwach."));   // as the forms are given
}

TEST_F(Languages, AResolvedJobNeedsNoTable) {
  const auto job = folder_.load(german_job).front();
  const auto resolved = load_resolved(canonical_dump(job), "resolved");
  EXPECT_EQ(job, resolved);
  EXPECT_EQ(resolved.language, "de");
  EXPECT_EQ(prompts(job), prompts(resolved));
  EXPECT_EQ(canonical_dump(job), canonical_dump(resolved));
}

TEST_F(Languages, AResolvedJobIsAJobAgain) {
  const auto job = folder_.load(german_job).front();
  const auto dump = canonical_dump(job);
  EXPECT_EQ(job, load_jobs(folder_.write("jobs/copy.yaml", dump), {}).front());  // the table is at hand
  const auto elsewhere = folder_.write("results/small/job.resolved.yaml",
                                       with(dump, "language: \"de\"", "language: \"xy\""));  // whose table is nowhere
  const auto goes_on = load_jobs(elsewhere, {"statistics.means=all"}).front();
  EXPECT_EQ(goes_on.language, "xy");
  EXPECT_EQ(prompts(job), prompts(goes_on));
  EXPECT_EQ(canonical_raw_dump(job), canonical_raw_dump(goes_on));
  EXPECT_THAT(complaint_of([&] { load_jobs(elsewhere, {"axes.rephrasings=['Man sagt, {prompt}']"}); }),
              HasSubstr("no piece 'xy' of the kind languages"));  // of which it would take the small letters
}

TEST_F(Languages, TheScaleOfAnInterviewIsWrittenInItsLanguage) {
  const std::string written =
      "schema: stereosweep/1\nname: small\nlanguage: de\nmodel: {path: nowhere}\nprobe: interview\naxes:\n"
      "  groups: [{domain: job, singular: Arzt, plural: Ärzte, gender: masculine}]\n"
      "  conversations:\n"
      "    - label: short\n"
      "      scale: {from: 1, to: 5, low: gar nicht, high: sehr}\n"
      "      turns:\n"
      "        - {label: one, kind: rating, ask: 'Wie {item} sind {group}, von {scale}?',\n"
      "           items: [{label: warm, dimension: warmth}]}\n";
  const auto asked = [](const sweep::Job& job) {
    const auto& settings = job.settings<probes::interview::Interview>();
    return messages_of(settings, subjects_of(settings).subjects.front(), {}).front();
  };
  const auto job = folder_.load(written).front();
  EXPECT_EQ(asked(job), "Wie warm sind Ärzte, von 1 (gar nicht) bis 5 (sehr)?");
  EXPECT_EQ(asked(load_resolved(canonical_dump(job), "resolved")), asked(job));
  EXPECT_EQ(asked(folder_.load(with(written, "high: sehr", "high: sehr, between: '-'")).front()),
            "Wie warm sind Ärzte, von 1 (gar nicht) - 5 (sehr)?");
  const auto english = folder_.load(with(with(written, "language: de\n", ""), ", gender: masculine", "")).front();
  EXPECT_EQ(asked(english), "Wie warm sind Ärzte, von 1 (gar nicht) to 5 (sehr)?");
  EXPECT_THAT(canonical_dump(english), Not(HasSubstr("between")));
  EXPECT_THAT(folder_.complaint(with(written, "high: sehr", "high: sehr, between: '{group}'")),
              HasSubstr("axes.conversations[0].scale.between: "));
  folder_.write("configs/languages/de.yaml", "language: de\ngeneric: {singular: Mensch, plural: Menschen}\n");
  const auto bare = with(written, ", gender: masculine", "");
  EXPECT_THAT(folder_.complaint(bare), HasSubstr("job.yaml:9:axes.conversations[0].scale: no word between the ends"));
  EXPECT_EQ(folder_.complaint(with(bare, "{scale}", "1 bis 5")), "");
}

TEST_F(Languages, EnglishJobsAreWhatTheyWere) {
  const auto job = folder_.load(small_job).front();
  EXPECT_EQ(job.language, "en");
  for (const auto* word : {"language", "article", "inside", "gender: "}) {
    EXPECT_THAT(canonical_raw_dump(job), Not(HasSubstr("\n" + std::string(word))));
  }
  EXPECT_EQ(canonical_dump(folder_.load(small_job, {"language=en"}).front()), canonical_dump(job));
}

TEST_F(Languages, AUsersOwnTableIsFoundByItsPath) {
  folder_.write("jobs/mine.yaml",
                "language: xy\narticles: {by: vowel, before_vowel: al, otherwise: la}\n"
                "generic: {singular: homo, plural: homi}\nfunction_words: [toti]\n");
  auto text = small_job;
  text.replace(text.find("name: small"), 11, "language: ./mine.yaml\nname: small");
  const auto path = folder_.write("jobs/job.yaml", text);
  const auto job = folder_
                       .load(text, {"axes.templates=['{a group} e {trait}.', 'Toti {group} e {trait}.']",
                                    "axes.rephrasings=['On di, {prompt}']",
                                    "axes.groups=[{singular: actor, plural: actors}, {singular: éter, plural: éters}, "
                                    "{singular: woman, plural: women}]",
                                    "axes.intersections=none"})
                       .front();
  const auto texts = prompts(job);
  EXPECT_THAT(texts, ::testing::IsSupersetOf({"On di, la homo e schwach.", "On di, al actor e schwach.",
                                              "On di, al éter e schwach.", "On di, la woman e schwach.",
                                              "On di, toti women e schwach."}));
}

TEST_F(Languages, FaultsAreToldWithTheirPlace) {
  const auto complaint = [&](const std::string& from, const std::string& to) {
    auto text = german_job;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return folder_.complaint(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(complaint("language: de", "language: dee"), HasSubstr("job.yaml:3:language: no piece 'dee'"));
  EXPECT_THAT(complaint("language: de", "language: dee"), HasSubstr("Did you mean 'de'"));
  EXPECT_THAT(complaint("gender: neuter", "gender: neutrum"), HasSubstr("job.yaml:10:axes.groups[2].gender: "));
  EXPECT_THAT(complaint("article: ein}", "article: an}"), HasSubstr("job.yaml:11:axes.groups[3].article: 'an' is no"));
  EXPECT_THAT(complaint("plural: Kinder, gender: neuter", "plural: Kinder"), HasSubstr("'Kind' has neither gender"));
  EXPECT_THAT(complaint("Kinderärztinnen, gender: feminine", "Kinderärztinnen"),
              HasSubstr("'Kinderärztin' has neither"));
  EXPECT_THAT(complaint("language: de\n", ""), HasSubstr("unknown key 'gender'"));
  EXPECT_THAT(folder_.complaint(german_job, {"priors.word=[Person, Personen]"}), HasSubstr("before 'Person'"));
  EXPECT_EQ(folder_.complaint(german_job, {"priors.word={singular: Person, plural: Personen, gender: feminine}"}), "");
}

TEST_F(Languages, FaultsOfATableAreToldWithTheirPlace) {
  const auto complaint = [&](const std::string& table) {
    folder_.write("configs/languages/de.yaml", table);
    return folder_.complaint(german_job);
  };
  const std::string articles = "articles: {by: gender, masculine: ein, feminine: eine, neuter: ein}\n";
  EXPECT_THAT(complaint("language: de\n" + articles), HasSubstr("generic"));
  EXPECT_THAT(complaint("language: de\n" + articles + "generic: {singular: Mensch, plural: Menschen, gender: male}\n"),
              HasSubstr("de.yaml:3:generic: the language 'de' has no gender 'male'"));
  EXPECT_THAT(complaint("language: de\n" + articles +
                        "generic: {singular: Mensch, plural: Menschen, gender: neuter}\n"
                        "funktion_words: [alle]\n"),
              HasSubstr("de.yaml:4:funktion_words: unknown key"));
  EXPECT_THAT(complaint("language: de\narticles: {by: gender}\ngeneric: {singular: Mensch, plural: Menschen}\n"),
              HasSubstr("no gender has an article"));
  EXPECT_THAT(complaint("language: de\narticles: {by: vowel, otherwise: un}\ngeneric: {singular: a, plural: b}\n"),
              HasSubstr("de.yaml:2:articles.before_vowel"));
}

}  // namespace
}  // namespace stereosweep::config
