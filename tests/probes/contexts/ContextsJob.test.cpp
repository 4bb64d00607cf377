// Contexts jobs: word sets and tests, pieces, what a dump keeps, faults.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/contexts/Contexts.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Kind = probes::contexts::EmbeddingTest::Kind;

const std::string job_text =
    "schema: stereosweep/1\n"                                                                                   // 1
    "name: small\n"                                                                                             // 2
    "seed: 7\n"                                                                                                 // 3
    "model: {path: nowhere}\n"                                                                                  // 4
    "probe: contexts\n"                                                                                         // 5
    "corpus: {files: [/corpora/one.txt, /corpora/two/], case: ignore}\n"                                        // 6
    "axes:\n"                                                                                                   // 7
    "  sets: {good: [love, peace], bad: [war, evil, grief]}\n"                                                  // 8
    "  tests:\n"                                                                                                // 9
    "    - {label: own, title: t, x: [rose, iris], y: {label: insects, words: [ant, bee]}, a: good, b: bad}\n"  // 10
    "    - {label: alone, x: [rose, iris], a: good, b: bad}\n"                                                  // 11
    "samples: 20\n";                                                                                            // 12

sweep::Job load(const std::vector<std::string>& overrides = {}) {
  return JobFolder().load(job_text, overrides).front();
}
std::string fault(const std::vector<std::string>& overrides) { return JobFolder().complaint(job_text, overrides); }

/// A job on the shipped pieces.
probes::contexts::Contexts shipped(const std::string& tests, const std::vector<std::string>& overrides = {}) {
  ::setenv("STEREOSWEEP_CONFIGS", (source_directory() + "/configs").c_str(), 1);
  std::vector<std::string> all = {"axes={tests: " + tests + "}"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load(all).settings<probes::contexts::Contexts>();
}

TEST(ContextsJob, keys_become_values) {
  const auto job = load({"corpus.format=json_lines", "corpus.boundary=blanks", "corpus.max_contexts=60",
                         "vectors={layer: 3, pool: last, window: 4, keep: float16}"});
  const auto& settings = job.settings<probes::contexts::Contexts>();
  EXPECT_THAT(settings.contextual().corpus.files, ElementsAre("/corpora/one.txt", "/corpora/two/"));
  EXPECT_EQ(settings.contextual().corpus.format, probes::contexts::Corpus::Format::json_lines);
  EXPECT_EQ(settings.contextual().corpus.boundary, probes::contexts::Corpus::Boundary::blanks);
  EXPECT_EQ(settings.contextual().corpus.letter_case, probes::contexts::Corpus::Case::ignore);
  EXPECT_EQ(settings.contextual().corpus.max_contexts, 60);
  EXPECT_EQ(settings.contextual().layer, 3);
  EXPECT_EQ(settings.contextual().pool, probes::contexts::ContextualVectors::Pool::last);
  EXPECT_EQ(settings.contextual().window, 4);
  EXPECT_EQ(settings.keep, probes::contexts::Contexts::Keep::float16);
  EXPECT_EQ(settings.samples, 20);
  ASSERT_EQ(settings.tests.size(), 2u);
  const auto& own = settings.tests[0];
  EXPECT_EQ(own.kind, Kind::weat);
  EXPECT_EQ(own.x, (probes::contexts::WordSet{"X", {"rose", "iris"}}));
  EXPECT_EQ(own.y, (probes::contexts::WordSet{"insects", {"ant", "bee"}}));
  EXPECT_EQ(own.b, (probes::contexts::WordSet{"bad", {"war", "evil", "grief"}}));
  EXPECT_EQ(settings.tests[1].kind, Kind::wefat);
  EXPECT_THAT(settings.tests[1].y.words, ElementsAre());
}

TEST(ContextsJob, dump_loads_back_to_an_equal_job) {
  const std::string detections =
      "statistics={variance: cohen, estimator: reml, permutation: exact, draws: 99, exceedances: 20, confidence: 0.9, "
      "families: {'first one': [own]}, human_ratings: {path: /means.tsv, aliases: {ladies: women}}, detections: "
      "[{label: d, against: [alone], "
      "single_axis: [alone], intersectional: [rose, iris], emergent: "
      "[iris]}]}";
  for (const auto& job :
       {load(), load({detections, "unequal_sets=trim", "draws=shared", "vectors={window: 9, keep: none}"}),
        load({"vectors.window=guo2021"}),
        load({"statistics={detections: [{label: d, against: [alone]}]}", "model.dtype=bfloat16"})}) {
    const auto dump = canonical_dump(job);
    EXPECT_EQ(load_resolved(dump, "dump"), job) << dump;
    EXPECT_EQ(canonical_dump(load_resolved(dump, "dump")), dump);
  }
}

TEST(ContextsJob, static_vectors_need_no_corpus_and_files_no_model) {
  const auto without = [](const std::string& text, const std::string& line) { return with(text, line, ""); };
  const std::string corpus = "corpus: {files: [/corpora/one.txt, /corpora/two/], case: ignore}\n";
  const std::string tables = without(without(job_text, corpus), "samples: 20\n");
  const JobFolder folder;
  const std::string file_job =
      without(tables, "model: {path: nowhere}\n") + "vectors: {file: glove.txt, format: glove_text}\n";
  for (const auto& text : {file_job, tables + "vectors: {format: model, keep: none}\n"}) {
    const auto job = folder.load(text).front();
    EXPECT_TRUE(job.settings<probes::contexts::Contexts>().is_static());
    EXPECT_EQ(job.settings<probes::contexts::Contexts>().samples, 1);
    EXPECT_EQ(job.settings<probes::contexts::Contexts>().needs_model(), job.model.path == "nowhere");
    EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job) << canonical_dump(job);
  }
  EXPECT_EQ(folder.load(file_job).front().settings<probes::contexts::Contexts>().from_table().file, "glove.txt");
  EXPECT_THAT(folder.complaint(tables + "vectors: {file: glove.txt}\n"),
              HasSubstr(":4:model: a model beside a file of vectors"));
  EXPECT_THAT(folder.complaint(without(tables, "model: {path: nowhere}\n") + "vectors: {format: model}\n"),
              HasSubstr("model: the key 'model' is missing"));
  EXPECT_THAT(folder.complaint(tables + "vectors: {format: glove_text}\n"), HasSubstr("a format without a file"));
  EXPECT_THAT(folder.complaint(tables + "vectors: {file: a, format: model}\n"), HasSubstr("a file beside format"));
  EXPECT_THAT(folder.complaint(tables + "vectors: {format: model, pool: last}\nsamples: 3\ndraws: shared\n"),
              AllOf(HasSubstr("'pool' beside static vectors"), HasSubstr("many samples of static vectors"),
                    HasSubstr("shared draws of static vectors")));
  EXPECT_THAT(folder.complaint(job_text + "vectors: {format: model}\n"),
              HasSubstr(":6:corpus: a corpus beside static vectors"));
  EXPECT_THAT(folder.complaint(tables), HasSubstr("the key 'corpus' is missing"));
}

TEST(ContextsJob, raw_dump_keeps_what_changes_a_number) {
  const auto raw = canonical_raw_dump(load());
  const auto changes = [&](const std::string& text) { return canonical_raw_dump(load({text})) != raw; };
  for (const auto* text : {"seed=8", "samples=21", "vectors.layer=2", "vectors.layer=sum", "vectors.window=1",
                           "vectors.window=guo2021", "corpus.max_contexts=9", "corpus.case=exact",
                           "corpus.files=[/corpora/one.txt]", "corpus.files=[/elsewhere/one.txt, /corpora/two/]",
                           "axes.sets.good=[love]", "unequal_sets=trim", "model.dtype=bfloat16"}) {
    EXPECT_TRUE(changes(text)) << text;
  }
  for (const auto* text :
       {"vectors.keep=none", "statistics.variance=cohen", "statistics.draws=5", "statistics.families={f: [own]}",
        "model.path=x", "corpus.files=[/corpora/../corpora/one.txt, /corpora/two/]"}) {
    EXPECT_FALSE(changes(text)) << text;
  }
  EXPECT_THAT(raw, Not(HasSubstr("statistics")));
  EXPECT_EQ(load({"corpus.files=one.txt"}).settings<probes::contexts::Contexts>().contextual().corpus.files.front(),
            (std::filesystem::current_path() / "one.txt").string());
}

TEST(ContextsJob, faults_stand_in_one_report) {
  const auto report = fault({"corpus.boundary=words", "vectors.layer=x", "vectors.kepp=none", "samples=0",
                             "axes.tests=[{label: T, x: [a, b], y: [b, c], a: god, b: bad}, {label: T, x: [a], a: [d], "
                             "b: []}]",
                             "statistics.variance=papr"});
  for (const auto* text :
       {"command line:corpus.boundary: unknown value 'words' (one of 'word', 'blanks'). Did you mean 'word'?",
        "vectors.layer: a whole number", "vectors.kepp: unknown key 'kepp'", "Did you mean 'keep'?",
        "samples: a whole number from 1", "'b' stands in both X and Y of the test 'T'",
        "axes.tests[0].a: no set is called 'god'", "Did you mean 'good'?", "the label 'T' stands twice",
        "axes.tests[1].b: the list is empty", "Did you mean 'paper'?"}) {
    EXPECT_THAT(report, HasSubstr(text));
  }
}

TEST(ContextsJob, single_faults) {
  const auto test_fault = [](const std::string& test) { return fault({"axes.tests=[" + test + "]"}); };
  EXPECT_THAT(test_fault("{label: T, x: [a], y: [b], a: good, b: bad}"), HasSubstr("compares one word with one other"));
  EXPECT_THAT(test_fault("{label: T, x: [a, b], a: [c], b: [d]}"), HasSubstr("square root of 2"));
  EXPECT_THAT(test_fault("{label: T, x: [a], a: [c, d], b: [d, e]}"), HasSubstr("'d' stands in both A and B"));
  EXPECT_THAT(test_fault("{label: T, kind: weat, x: [a, b], a: good, b: bad}"), HasSubstr("'y' is missing"));
  EXPECT_THAT(test_fault("{label: T, kind: wefat, x: [a], y: [b, c], a: good, b: bad}"), HasSubstr("'y' is given"));
  EXPECT_THAT(test_fault("{label: T, x: [a, a], a: good, b: bad}"), HasSubstr("'a' stands twice"));
  EXPECT_THAT(test_fault("{label: T, x: ['a  b'], a: good, b: bad}"), HasSubstr("has two beside each other"));
  EXPECT_THAT(test_fault("{label: T, x: ['a\u00A0b'], a: good, b: bad}"), HasSubstr("white space that is no blank"));
  EXPECT_THAT(test_fault("{x: [a], a: good, b: bad}"), HasSubstr("the key 'label' is missing"));
  EXPECT_THAT(fault({"axes.tests=[]"}), HasSubstr("the list is empty"));
  EXPECT_THAT(fault({"samples=100000000", "execution.max_cells=399999999"}),
              HasSubstr("9 words x 1,000 contexts and 6 targets x 100,000,000 samples are too many cells"));
  const auto detection = [](const std::string& text) {
    return fault({"statistics.detections=[{label: d, " + text + "}]"});
  };
  EXPECT_THAT(detection("against: [alon]"), AllOf(HasSubstr("no test is called 'alon'"), HasSubstr("'alone'?")));
  EXPECT_THAT(detection("against: [own]"), HasSubstr("'own' is no wefat test"));
  EXPECT_THAT(detection("against: [alone], intersectional: [rosa]"), HasSubstr("'rosa' is no target"));
  const auto family = [](const std::string& text) { return fault({"statistics.families=" + text}); };
  EXPECT_THAT(family("{f: [own, owns]}"),
              HasSubstr("command line:statistics.families.f[1]: no test is called 'owns' (a family lists tests of this "
                        "job). Did you mean 'own'?"));
  EXPECT_EQ(family("{f: [alone]}"), "");  // a wefat test: its words are the family's tests
  EXPECT_THAT(family("{f: [own], g: [own]}"),
              HasSubstr("statistics.families.g[0]: the test 'own' is in the family 'f', too"));
  EXPECT_THAT(family("{f: [own, own]}"), HasSubstr("'own' stands twice"));
  EXPECT_THAT(family("{f: []}"), HasSubstr("the list is empty"));
  EXPECT_THAT(family("{' f': [own]}"), HasSubstr("white space at the start"));
  EXPECT_THAT(family("[own]"), HasSubstr("a mapping"));
  EXPECT_THAT(detection("against: [alone], intersectional: [rose], emergent: [iris]"),
              HasSubstr("not among the intersectional words"));
}

/// The keys in the order of the article's table 1.
std::map<std::string, std::vector<std::string>> published_tests() {
  return {{"C1", {"flowers", "insects", "pleasant_5", "unpleasant_5a"}},
          {"C2", {"instruments", "weapons", "pleasant_5", "unpleasant_5a"}},
          {"C3", {"european_american_names_5", "african_american_names_5", "pleasant_5", "unpleasant_5b"}},
          {"C4", {"european_american_names_7", "african_american_names_7", "pleasant_5", "unpleasant_5b"}},
          {"C5", {"european_american_names_7", "african_american_names_7", "pleasant_9", "unpleasant_9"}},
          {"C6", {"male_names", "female_names", "career", "family"}},
          {"C7", {"math", "arts", "male_terms", "female_terms"}},
          {"C8", {"science", "arts_2", "male_terms_2", "female_terms_2"}},
          {"C9", {"mental_disease", "physical_disease", "temporary", "permanent"}},
          {"C10", {"young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"}}};
}

TEST(ShippedTests, have_the_published_sizes) {
  std::map<std::string, std::vector<std::size_t>> sizes;
  for (const auto& test : shipped("[caliskan, guo_intersectional]").tests) {
    EXPECT_EQ(test.kind, Kind::weat);
    EXPECT_FALSE(test.title.empty());
    for (const auto* set : {&test.x, &test.y, &test.a, &test.b}) {
      sizes[test.label].push_back(set->words.size());
    }
  }
  const std::map<std::string, std::vector<std::size_t>> published = {
      {"C1", {25, 25, 25, 25}}, {"C2", {25, 25, 25, 25}}, {"C3", {32, 32, 25, 25}}, {"C4", {16, 16, 25, 25}},
      {"C5", {16, 16, 8, 8}},   {"C6", {8, 8, 8, 8}},     {"C7", {8, 8, 8, 8}},     {"C8", {8, 8, 8, 8}},
      {"C9", {6, 6, 7, 7}},     {"C10", {8, 8, 8, 8}},    {"I1", {12, 12, 13, 13}}, {"I2", {12, 12, 8, 8}},
      {"I3", {12, 12, 12, 12}}, {"I4", {12, 12, 6, 6}}};
  EXPECT_EQ(sizes, published);
  const auto pairs = shipped("guo_pairs").tests;
  EXPECT_EQ(pairs.size(), 60u);
  std::set<std::string> labels;
  for (const auto& test : pairs) {
    labels.insert(test.label);
    EXPECT_NE(test.x.words, test.y.words) << test.label;
    EXPECT_EQ(test.x.words.size(), 12u) << test.label;
    EXPECT_EQ(test.y.words.size(), 12u) << test.label;
    EXPECT_EQ(test.a.words.size(), test.label.ends_with("pleasant") ? 25u : 8u) << test.label;
    EXPECT_EQ(test.b.words.size(), test.a.words.size()) << test.label;
  }
  EXPECT_EQ(labels.size(), pairs.size());
  EXPECT_EQ(shipped("{file: caliskan, only: [C2, C10]}").tests.size(), 2u);
}

TEST(ShippedTests, are_the_published_word_lists) {
  const std::filesystem::path path = source_directory() + "/../shared/data/wefe-weat/WEAT.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the published lists are not at " << path << " (optional)";
  }
  const auto lists = base::parse_json(base::read_file(path), "WEAT.json");
  const std::set<std::string> left_out = {"Jay", "Kristen", "Latonya", "Tremayne"};
  for (const auto& test : shipped("caliskan").tests) {
    const std::vector<std::string> names = published_tests().at(test.label);
    std::size_t side = 0;
    for (const auto* set : {&test.x, &test.y, &test.a, &test.b}) {
      std::set<std::string> words;
      for (const std::string word : lists.at(names[side])) {
        if (names[side].find("names_7") == std::string::npos || !left_out.contains(word)) {
          words.insert(word);
        }
      }
      EXPECT_EQ(std::set<std::string>(set->words.begin(), set->words.end()), words) << test.label << ' ' << names[side];
      ++side;
    }
  }
}

TEST(ShippedTests, detections_cover_six_groups) {
  const auto settings = shipped("guo_detection", {"statistics={detections: guo_groups}"});
  EXPECT_EQ(settings.tests.size(), 38u);
  for (const auto& test : settings.tests) {
    EXPECT_EQ(test.x.words.size(), 98u);
    EXPECT_EQ(test.a.words.size(), test.b.words.size() * (test.a.words.size() / test.b.words.size()));
  }
  std::map<std::string, std::pair<std::size_t, std::size_t>> sizes;
  for (const auto& detection : settings.statistics.detections) {
    EXPECT_EQ(detection.against.size(), 5u);
    EXPECT_EQ(detection.single_axis.size(), 3u);
    sizes[detection.label] = {detection.intersectional.size(), detection.emergent.size()};
  }
  // Shares of the 98 words that the appendix prints: 14.3 % and 9.2 % for the first, and so on.
  const std::map<std::string, std::pair<std::size_t, std::size_t>> published = {
      {"African American females", {14, 9}},  {"African American males", {13, 3}},
      {"European American females", {14, 1}}, {"European American males", {15, 3}},
      {"Mexican American females", {13, 6}},  {"Mexican American males", {15, 4}}};
  EXPECT_EQ(sizes, published);
}

TEST(GroupTests, every_pair_is_a_test_of_all_groups) {
  const auto settings = shipped("{groups: {file: abc_groups, only: [men, women]}, traits: abc_traits, form: singular}");
  ASSERT_EQ(settings.tests.size(), 16u);
  EXPECT_EQ(settings.tests[0].label, "powerless - powerful");
  EXPECT_EQ(settings.tests[0].kind, Kind::wefat);
  EXPECT_THAT(settings.tests[0].x.words, ElementsAre("man", "woman"));
  EXPECT_EQ(settings.tests[0].a.label, "powerful");
  EXPECT_EQ(settings.tests[0].a.words.front(), "powerful");
  EXPECT_EQ(settings.tests[0].b.words.front(), "powerless");
  EXPECT_THAT(fault({"axes={tests: [{groups: abc_groups, traits: abc_poles}]}"}),
              HasSubstr("16 trait pairs with one word on either side"));
  EXPECT_THAT(fault({"axes={tests: [{groups: [{plural: men}], traits: abc_traits, form: singular}]}"}),
              HasSubstr("the group 'men' has no such form"));
}

TEST(GroupTests, intersections_are_targets_beside_the_groups) {
  const std::string groups =
      "groups: [{plural: women, adjective: female, domain: gender}, {plural: Black people, adjective: Black, domain: "
      "race}, {plural: teenagers, domain: age}]";
  const std::string traits = "traits: [{left: [cold], right: [warm, kind]}]";
  const auto job = load(
      {"axes={tests: [{" + groups + ", intersections: {domains: [[race, gender], [race, age]]}, " + traits + "}]}"});
  const auto& settings = job.settings<probes::contexts::Contexts>();
  ASSERT_EQ(settings.tests.size(), 1u);
  EXPECT_THAT(settings.tests[0].x.words, ElementsAre("women", "Black people", "teenagers", "Black women",
                                                     "female Black people", "Black teenagers"));
  ASSERT_EQ(settings.subjects.size(), 6u);
  EXPECT_EQ(settings.subjects[3].label, "Black people x women");
  EXPECT_EQ(settings.subjects[3].domain, "race x gender");
  EXPECT_EQ(settings.subjects[3].second, "women");
  ASSERT_EQ(settings.omissions.size(), 1u);
  EXPECT_EQ(settings.omissions[0].first, "teenagers");
  EXPECT_THAT(settings.omissions[0].reason, HasSubstr("no adjective"));
  EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job) << canonical_dump(job);
  EXPECT_THAT(canonical_raw_dump(job), Not(HasSubstr("subjects")));
}

TEST(GeneratedCorpusJob, stands_beside_no_files) {
  const std::string line = "corpus: {files: [/corpora/one.txt, /corpora/two/], case: ignore}\n";
  const auto corpus = [&](const std::string& keys) { return with(job_text, line, "corpus: {" + keys + "}\n"); };
  const std::string templates = "templates: [{label: t, text: '{group} are {trait}.'}]";
  const JobFolder folder;
  const auto job = folder.load(corpus(templates + ", max_contexts: 7")).front();
  const auto& made = job.settings<probes::contexts::Contexts>().contextual().corpus;
  EXPECT_TRUE(made.is_generated());
  EXPECT_EQ(made.rephrasings.size(), 1u);
  EXPECT_EQ(made.max_contexts, 7);
  EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job) << canonical_dump(job);
  EXPECT_THAT(canonical_raw_dump(job), HasSubstr("{group} are {trait}."));
  EXPECT_THAT(folder.complaint(corpus(templates + ", files: [a]")), HasSubstr("'files' beside templates"));
  EXPECT_THAT(folder.complaint(corpus(templates + ", case: ignore")), HasSubstr("'case' beside templates"));
  EXPECT_THAT(folder.complaint(corpus("files: [a], rephrasings: voices")), HasSubstr("rephrasings without templates"));
}

}  // namespace
}  // namespace stereosweep::config
