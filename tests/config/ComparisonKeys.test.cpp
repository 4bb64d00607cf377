#include <gmock/gmock.h>

#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "config/ProbeFormat.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using sweep::Comparison;
using sweep::Contrast;
using ::testing::HasSubstr;
using ::testing::Not;

/// Lines count on from those of `small_job`.
const std::string every_key =
    "statistics:\n"
    "  word_aggregate: mean\n"
    "  contrasts:\n"
    "    - {name: gender, left: {subject: women, template.kind: [a, b]}, right: {subject: ['no', '5']}}\n"
    "    - {name: above zero, left: {subject.domain: race}, right: zero, measures: [x, y]}\n"
    "    - {name: each, each: subject, right: rest, paired: template.pair}\n"
    "    - {name: all, left: {subject: women}, right: {}}\n"
    "  inference: {family: contrast, confidence: 0.9, replicates: 300, draws: 5000}\n";

Comparison expected_comparison() {
  return {
      .contrasts = {{.name = "gender",
                     .left = {{"subject", {"women"}}, {"template.kind", {"a", "b"}}},
                     .right = {{"subject", {"no", "5"}}}},
                    {.name = "above zero",
                     .left = {{"subject.domain", {"race"}}},
                     .against = Contrast::Against::zero,
                     .measures = {"x", "y"}},
                    {.name = "each", .against = Contrast::Against::rest, .each = "subject", .paired = "template.pair"},
                    {.name = "all", .left = {{"subject", {"women"}}}}},
      .family = Comparison::Family::contrast,
      .confidence = 0.9,
      .replicates = 300,
      .draws = 5000,
      .means = {},
      .variance = {}};
}

TEST(ComparisonReader, reads_every_key) {
  const JobFolder folder;
  const auto job = folder.load(small_job + every_key).front();
  EXPECT_EQ(job.comparison, expected_comparison());
  EXPECT_EQ(folder.load(small_job).front().comparison, Comparison());
}

TEST(ComparisonReader, a_contrast_without_a_right_side_is_one_with_zero) {
  const JobFolder folder;
  const auto job = folder.load(small_job + "statistics: {contrasts: [{name: a, left: {subject: women}}]}\n").front();
  EXPECT_EQ(job.comparison.contrasts.front().against, Contrast::Against::zero);
  EXPECT_EQ(job.comparison.family, Comparison::Family::measure);
}

TEST(ComparisonReader, dumps_load_back) {
  const JobFolder folder;
  for (const auto& text :
       {every_key, std::string("statistics: {inference: {draws: 777}}\n"), std::string("statistics: {contrasts: []}\n"),
        std::string("statistics: {contrasts: [{name: 'a: b', left: {'x: y': ['- 1', '~', 'null']}}]}\n")}) {
    const auto job = folder.load(small_job + text).front();
    EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job) << canonical_dump(job);
  }
  const auto plain = canonical_dump(folder.load(small_job).front());
  EXPECT_THAT(plain, Not(HasSubstr("inference")));
  EXPECT_THAT(plain, Not(HasSubstr("contrasts")));
}

TEST(ComparisonReader, names_every_fault_with_its_place) {
  const JobFolder folder;
  const auto report =
      folder.complaint(small_job +
                       "statistics:\n"                                                                    // 15
                       "  contrasts:\n"                                                                   // 16
                       "    - {name: a, left: {subject: women}, rigth: {subject: men}}\n"                 // 17
                       "    - {name: a, left: {subject: []}, right: most}\n"                              // 18
                       "    - {left: {}}\n"                                                               // 19
                       "    - {left: {subject: women}}\n"                                                 // 20
                       "    - women\n"                                                                    // 21
                       "    - {name: b, left: [women]}\n"                                                 // 22
                       "    - {name: c, left: {subject: {a: b}}, measures: []}\n"                         // 23
                       "  inference: {family: al, confidence: 1, replicates: 3, draws: many, seed: 4}\n"  // 24
                       "  word_aggregat: mean\n");                                                        // 25
  for (const auto* fault :
       {"job.yaml:17:statistics.contrasts[0].rigth: unknown key", "Did you mean 'right'?",
        "job.yaml:18:statistics.contrasts[1]: a second contrast 'a'",
        "job.yaml:18:statistics.contrasts[1].left.subject:",
        "job.yaml:18:statistics.contrasts[1].right: unknown value 'most'",
        "job.yaml:19:statistics.contrasts[2].name: the key 'name' is missing",
        "job.yaml:19:statistics.contrasts[2]: nothing is selected on the left",
        "job.yaml:20:statistics.contrasts[3].name: the key 'name' is missing",
        "job.yaml:21:statistics.contrasts[4]: a mapping is expected", "Write {name: ..., left: {subject: ...}",
        "job.yaml:22:statistics.contrasts[5].left: a mapping is expected",
        "job.yaml:23:statistics.contrasts[6].left.subject: text is expected",
        "job.yaml:23:statistics.contrasts[6].measures:", "job.yaml:24:statistics.inference.family: unknown value 'al'",
        "job.yaml:24:statistics.inference.confidence:", "job.yaml:24:statistics.inference.replicates: a whole number",
        "job.yaml:24:statistics.inference.draws: a whole number", "job.yaml:24:statistics.inference.seed: unknown key",
        "job.yaml:25:statistics.word_aggregat: unknown key"}) {
    EXPECT_THAT(report, HasSubstr(fault));
  }
  EXPECT_THAT(report, Not(HasSubstr("a second contrast ''")));
  EXPECT_THAT(report, Not(HasSubstr("[5]: nothing is selected")));  // what stands there is the fault
}

TEST(ComparisonReader, an_entry_with_a_key_that_cannot_be_read_is_judged_by_the_others) {
  const JobFolder folder;
  const auto report = folder.complaint(
      small_job +
      "statistics:\n"                                                                                       // 15
      "  contrasts:\n"                                                                                      // 16
      "    - {name: a, measures: {}}\n"                                                                     // 17
      "    - {name: b, each: [x]}\n"                                                                        // 18
      "  clusters: {restarts: few, number: 0, high_above: top}\n"                                           // 19
      "  decide: {level: much, want: [sign, sign], plan: {rephrasings: many, templates: 0, cells: 0}}\n");  // 20
  for (const auto* fault :
       {"job.yaml:17:statistics.contrasts[0].measures: a list",
        "job.yaml:17:statistics.contrasts[0]: nothing is selected", "job.yaml:18:statistics.contrasts[1].each: text",
        "job.yaml:19:statistics.clusters.restarts:", "job.yaml:19:statistics.clusters.number:",
        "job.yaml:19:statistics.clusters.high_above:", "job.yaml:20:statistics.decide.level:",
        "job.yaml:20:statistics.decide.want: one thing is wanted twice",
        "job.yaml:20:statistics.decide.plan: no variance"}) {
    EXPECT_THAT(report, HasSubstr(fault));
  }
  EXPECT_THAT(report, Not(HasSubstr("contrasts[1]: nothing is selected")));  // the key that cannot be read may select
  const auto wants =
      folder.complaint(small_job + "statistics: {decide: {want: [{width: much}, {width: 1, claim: sgn}]}}\n");
  EXPECT_THAT(wants, Not(HasSubstr("nothing is wanted")));
  EXPECT_THAT(wants, Not(HasSubstr("wanted twice")));
}

TEST(ComparisonReader, refuses_what_is_no_mapping_or_list) {
  const JobFolder folder;
  EXPECT_THAT(folder.complaint(small_job + "statistics: 3\n"),
              HasSubstr("job.yaml:15:statistics: a mapping is expected"));
  EXPECT_THAT(folder.complaint(small_job + "statistics: {contrasts: women}\n"),
              HasSubstr("job.yaml:15:statistics.contrasts: a list is expected"));
  EXPECT_THAT(folder.complaint(small_job + "statistics: {inference: 0.9}\n"),
              HasSubstr("job.yaml:15:statistics.inference: a mapping is expected"));
  EXPECT_THAT(folder.complaint(small_job + "statistics: {contrasts: [{name: a, left: {subject: x, subject: y}}]}\n"),
              HasSubstr("subject"));
  EXPECT_THAT(folder.complaint(small_job, {"statistics.contrasts=[{name: a, left: {subject: women}, each: [b]}]"}),
              HasSubstr("command line:statistics.contrasts[0].each: text is expected"));
}

struct Shipped {
  const char* file;
  const char* own;  ///< a key of its statistics
};

/// The probe's own keys are read as without contrasts, and no raw number depends on any of them.
TEST(ComparisonReader, every_probe_takes_contrasts_beside_its_own_keys) {
  for (const auto& [file, own] : {Shipped{"00_smoke.yaml", "statistics.word_aggregate=mean"},
                                  Shipped{"41_crossed_markers.yaml", "statistics.ties=loss"},
                                  Shipped{"51_group_ratings.yaml", "statistics.clusters={restarts: 2000}"},
                                  Shipped{"61_generated_contexts.yaml", "statistics.draws=1000"}}) {
    const auto path = std::filesystem::path(source_directory()) / "jobs" / file;
    const auto plain = load_jobs(path, {own}).front();
    const auto job = load_jobs(path, {own, "statistics.contrasts=[{name: a, left: {subject: women}, right: rest}]",
                                      "statistics.inference.draws=500"})
                         .front();
    EXPECT_EQ(job.probe, plain.probe) << file;
    EXPECT_EQ(job.comparison.contrasts.size(), 1U) << file;
    EXPECT_EQ(job.comparison.draws, 500) << file;
    EXPECT_EQ(canonical_raw_dump(job), canonical_raw_dump(plain)) << file;
    EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job) << file;
    EXPECT_EQ(load_resolved(canonical_dump(plain), "dump",
                            {"statistics.contrasts=[{name: a, left: {subject: women}, right: rest}]",
                             "statistics.inference={draws: 500}"})
                  .comparison,
              job.comparison)
        << file;
  }
}

}  // namespace
}  // namespace stereosweep::config
