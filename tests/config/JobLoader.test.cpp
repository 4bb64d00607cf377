#include "config/JobLoader.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "JobText.hpp"

namespace stereosweep::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(JobLoader, reads_every_key) {
  const JobFolder folder;
  const auto jobs = folder.load(
      "schema: stereosweep/1\nname: full\nseed: 18446744073709551615\nmodel: {path: /m, dtype: float16}\n"
      "probe: association\n"
      "axes:\n"
      "  groups:\n"
      "    - {label: X, domain: d, singular: heir, plural: heirs, article: an, adjective: rich, suffix: with money,\n"
      "       suffix_plural: with monies, noun_singular: one, noun_plural: ones}\n"
      "    - women\n"
      "  intersections: {pairs: [[X, women]], exclusions: [[women, X]], both_orders: false,\n"
      "    lexical: [{first: X, second: women, singular: heiress, plural: heiresses, article: an}]}\n"
      "  traits:\n"
      "    - {label: p, dimension: d, left: {name: low, words: [low, lowly]}, right: [high, lofty]}\n"
      "  templates: ['{group} are {trait}.', {label: t, kind: k, text: '{trait} {group}', form: plural}]\n"
      "  rephrasings: [{label: r, wrapper: 'So {prompt}', alternatives: {t: '{group} {trait}'}}, '{prompt}']\n"
      "measures: [set, ilps]\n"
      "priors: {word: [human, humans], mask: false}\n"
      "execution: {engine: fake, device: cpu, threads_per_rank: 3, batch_tokens: 7, contexts_per_block: 5,\n"
      "  max_cells: 1000, tensor_parallel: 1}\n"
      "statistics: {word_aggregate: mean, human_ratings: {path: r.tsv, aliases: {Y: X}}, templates: [t]}\n");
  ASSERT_EQ(jobs.size(), 1u);
  domain::Job expected;
  expected.name = "full";
  expected.seed = 18446744073709551615u;
  expected.model = {"/m", domain::Dtype::float16};
  expected.association().axes.groups = {
      {"X", "d", "heir", "heirs", "an", "rich", "with money", "with monies", "one", "ones"},
      {"women", "", "", "women", "", "", "", "", "", ""}};
  expected.association().axes.intersections = {
      {{"X", "women"}}, {}, {{"women", "X"}}, {{"X", "women", "heiress", "heiresses", "an"}}, false};
  expected.association().axes.traits = {{"p", "d", {"low", {"low", "lowly"}}, {"high", {"high", "lofty"}}}};
  expected.association().axes.templates = {
      {"{group} are {trait}.", "", "{group} are {trait}.", domain::NounForm::plural},
      {"t", "k", "{trait} {group}", domain::NounForm::plural}};
  expected.association().axes.rephrasings = {{"r", "So {prompt}", {{"t", "{group} {trait}"}}},
                                             {"{prompt}", "{prompt}", {}}};
  expected.association().measures = {true, false, true};
  expected.association().priors = {true, false, "human", "humans"};
  expected.execution = {domain::EngineKind::fake, domain::Device::cpu, 3, 1, 7, 5, 1000};
  expected.association().statistics = {domain::Statistics::Aggregate::mean, "r.tsv", {{"Y", "X"}}, {"t"}};
  EXPECT_EQ(jobs.front(), expected);
}

TEST(JobLoader, defaults_are_those_of_the_domain) {
  const JobFolder folder;
  const auto job = folder.load(small_job).front();
  EXPECT_EQ(job.seed, 0u);
  EXPECT_EQ(job.association().measures, domain::Measures());
  EXPECT_EQ(job.association().priors, domain::Priors());
  EXPECT_EQ(job.execution, domain::Execution());
  EXPECT_EQ(job.association().axes.rephrasings, (std::vector<domain::Rephrasing>{{"none", "{prompt}", {}}}));
  EXPECT_EQ(job.association().axes.intersections.domains.size(), 1u);
}

TEST(JobLoader, reports_every_problem_at_once_with_place_and_hint) {
  const JobFolder folder;
  const std::string report = folder.complaint(with(
      with(small_job + "measures: [ilps, sett]\nexecution: {thread_per_rank: 2}\n", "name: small", "name: ../small"),
      "{group} are {trait}.", "{group} are {trait} {trait}."));
  EXPECT_THAT(report, HasSubstr("job.yaml:2:name: '../small' is no name of a job"));
  EXPECT_THAT(report, HasSubstr("job.yaml:13:axes.templates[0]: 2 times {trait}"));
  EXPECT_THAT(report, HasSubstr("job.yaml:15:measures[1]: unknown value 'sett'"));
  EXPECT_THAT(report, HasSubstr("did you mean 'set'?"));
  EXPECT_THAT(report, HasSubstr("job.yaml:16:execution.thread_per_rank: unknown key"));
  EXPECT_THAT(report, HasSubstr("did you mean 'threads_per_rank'?"));
}

TEST(JobLoader, overrides_come_before_checks_and_name_the_command_line) {
  const JobFolder folder;
  const auto job = folder
                       .load(small_job, {"model.path=/a b", "seed=7", "axes.traits=[[cold, warm]]",
                                         "execution.batch_tokens=99", "name=other"})
                       .front();
  EXPECT_EQ(job.model.path, "/a b");
  EXPECT_EQ(job.seed, 7u);
  EXPECT_EQ(job.association().axes.traits.front().label, "cold - warm");
  EXPECT_EQ(job.execution.batch_tokens, 99);
  EXPECT_EQ(job.name, "other");
  const std::string report =
      folder.complaint(small_job, {"execution.batch_tokens=many", "modl=x", "name.first=y", "=3", "seed"});
  EXPECT_THAT(report, HasSubstr("command line:execution.batch_tokens: a whole number"));
  EXPECT_THAT(report, AllOf(HasSubstr("command line:modl: unknown key"), HasSubstr("did you mean 'model'?")));
  EXPECT_THAT(report, HasSubstr("command line:name.first: 'first' cannot be set"));
  EXPECT_THAT(report, HasSubstr("command line:=3: no override"));
  EXPECT_THAT(report, HasSubstr("command line:seed: no override"));
}

TEST(JobLoader, sweep_is_the_product_in_order_and_names_differ) {
  const JobFolder folder;
  const std::string text = small_job + "sweep: {model.path: [/x/bert, /y/bert], execution.batch_tokens: [8, 16]}\n";
  std::vector<std::string> seen;
  for (const auto& job : folder.load(text)) {
    seen.push_back(job.name + " " + job.model.path + " " + std::to_string(job.execution.batch_tokens));
  }
  EXPECT_THAT(seen, ElementsAre("small.bert-8.1 /x/bert 8", "small.bert-16.2 /x/bert 16", "small.bert-8.3 /y/bert 8",
                                "small.bert-16.4 /y/bert 16"));
  const auto fixed = folder.load(text, {"model.path=/z"});
  ASSERT_EQ(fixed.size(), 2u);
  EXPECT_EQ(fixed[1].name, "small.16");
  EXPECT_EQ(fixed[1].model.path, "/z");
  EXPECT_EQ(folder.load(text, {"sweep.model.path=[/z]"}).size(), 2u);
  EXPECT_EQ(folder.load(text, {"sweep={}"}).front().name, "small");
}

TEST(JobLoader, equal_values_of_a_sweep_are_refused) {
  const JobFolder folder;
  EXPECT_THAT(folder.complaint(small_job + "sweep: {seed: [1, 2, 1]}\n"),
              HasSubstr("job.yaml:15:sweep.seed[2]: '1' stands twice"));
}

TEST(JobLoader, a_key_set_twice_on_the_command_line_is_said) {
  const JobFolder folder;
  const auto said = [&](const std::vector<std::string>& overrides) {
    ::testing::internal::CaptureStderr();
    const auto job = folder.load(small_job, overrides).front();
    return std::to_string(job.seed) + " " + job.model.path + " " + ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said({"seed=1", "seed=2"}),
              AllOf(HasSubstr("2 "), HasSubstr("sets 'seed' and then 'seed': the last one counts")));
  EXPECT_THAT(said({"model.path=/x", "model={path: /y}"}),
              AllOf(HasSubstr(" /y "), HasSubstr("sets 'model.path' and then 'model'")));
  EXPECT_THAT(said({"model={path: /x}", "model.dtype=bfloat16", "seed=1"}), ::testing::EndsWith(" /x "));
}

TEST(JobLoader, a_bad_value_of_the_sweep_is_reported_once_at_its_line) {
  const JobFolder folder;
  const std::string report =
      folder.complaint(small_job + "sweep: {seed: [1, 2, 3], model.dtype: [float32, float23]}\n");
  EXPECT_THAT(report, HasSubstr("job.yaml:15:model.dtype: unknown value 'float23'"));
  EXPECT_EQ(report.find("float23"), report.rfind("'float23'") + 1) << report;
}

TEST(JobLoader, pieces_are_found_beside_the_job_then_in_the_environment) {
  const JobFolder folder;
  const JobFolder elsewhere;
  const std::string text = with(small_job, "traits: [[weak, strong]]", "traits: mine");
  EXPECT_THAT(folder.complaint(text), AllOf(HasSubstr("no piece 'mine'"), HasSubstr("configs/traits/mine.yaml")));
  const auto path = elsewhere.write("traits/mine.yaml", "[[far, near]]");
  ::setenv("STEREOSWEEP_CONFIGS", path.parent_path().parent_path().c_str(), 1);
  EXPECT_EQ(folder.load(text).front().association().axes.traits.front().label, "far - near");
  folder.write("configs/traits/mine.yaml", "schema: stereosweep/1\nabout: x\ntraits:\n  - [here, there]\n");
  EXPECT_EQ(folder.load(text).front().association().axes.traits.front().label, "here - there");
  ::unsetenv("STEREOSWEEP_CONFIGS");
  EXPECT_THAT(folder.complaint(with(text, "mine", "mines")), HasSubstr("did you mean 'mine'?"));
  folder.write("configs/traits/mine.yaml", "traits:\n  - [here, here]\n  - [a, b, c]\n");
  EXPECT_THAT(folder.complaint(text), AllOf(HasSubstr("mine.yaml:2:traits[0]: the word 'here' stands for both poles"),
                                            HasSubstr("mine.yaml:3:traits[1]: a list of exactly two texts")));
}

TEST(JobLoader, piece_names_do_not_leave_the_configs_folder) {
  const JobFolder folder;
  folder.write("secret.yaml", "[[a, b]]");
  folder.write("configs/traits/x.yaml", "[[a, b]]");
  for (const std::string name : {"../../secret", "/etc/passwd", "traits/x", "x.yaml", "..", "'x '", "\"x\\0\""}) {
    EXPECT_THAT(folder.complaint(with(small_job, "traits: [[weak, strong]]", "traits: " + name)), Not(IsEmpty()))
        << name;
  }
}

TEST(JobLoader, only_selects_by_label_and_rules_about_the_rest_are_dropped) {
  const JobFolder folder;
  folder.write("configs/groups/g.yaml", "[{plural: a, domain: x}, {plural: b, domain: y}, {plural: c, domain: y}]");
  const std::string text =
      "schema: stereosweep/1\nname: n\nmodel: m\nprobe: association\naxes:\n"
      "  groups: {file: g, only: [b, a]}\n"
      "  intersections: {pairs: [[a, b], [a, c]], exclusions: [[c, a]], domains: [[x, y]]}\n"
      "  traits: [[weak, strong]]\n  templates: ['{group} are {trait}']\n";
  const auto axes = folder.load(text).front().association().axes;
  ASSERT_EQ(axes.groups.size(), 2u);
  EXPECT_EQ(axes.groups[0].label, "a");
  EXPECT_EQ(axes.intersections.pairs.size(), 1u);
  EXPECT_THAT(axes.intersections.exclusions, IsEmpty());
  EXPECT_THAT(folder.complaint(with(text, "[b, a]", "[b, z]")), HasSubstr("6:axes.groups.only: unknown label 'z'"));
  EXPECT_EQ(
      folder.load(text, {"axes.groups.only=[c]", "axes.intersections=none"}).front().association().axes.groups.size(),
      1u);
  EXPECT_EQ(folder.load(with(text, "{file: g, only: [b, a]}", "g"), {"axes.groups.only=[c]"})
                .front()
                .association()
                .axes.groups.size(),
            1u);
}

TEST(JobLoader, relative_model_paths_count_from_here_then_from_the_job) {
  const JobFolder folder;
  const auto here = folder.write("models/tiny/config.json", "{}").parent_path();
  const auto job = folder.load(with(small_job, "path: nowhere", "path: ../models/tiny")).front();
  EXPECT_EQ(std::filesystem::weakly_canonical(job.model.path), std::filesystem::weakly_canonical(here));
  EXPECT_EQ(folder.load(small_job).front().model.path, "nowhere");
}

TEST(JobLoader, empty_and_unreadable_files) {
  const JobFolder folder;
  EXPECT_THAT(folder.complaint(""), HasSubstr("the file is empty"));
  EXPECT_THAT(folder.complaint("# only a comment\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(folder.complaint("~"), HasSubstr("the file is empty"));
  EXPECT_THAT(folder.complaint("- a\n"), HasSubstr("a mapping is expected"));
  EXPECT_THROW(load_jobs("/no/such/job.yaml"), base::InputError);
  EXPECT_THROW(load_jobs("/tmp"), base::InputError);
}

}  // namespace
}  // namespace stereosweep::config
