#include "config/JobLoader.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "config/JobText.hpp"
#include "probes/association/Association.hpp"
#include "probes/rating/Rating.hpp"
#include "support/RegisteredProbes.hpp"

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
  sweep::Job expected;
  expected.probe = probes::association::Association();
  expected.name = "full";
  expected.seed = 18446744073709551615u;
  expected.model = {"/m", query::Dtype::float16};
  expected.settings<probes::association::Association>().axes.groups = {
      {"X", "d", "heir", "heirs", "an", "rich", "with money", "with monies", "one", "ones"},
      {"women", "", "", "women", "", "", "", "", "", ""}};
  expected.settings<probes::association::Association>().axes.intersections = {
      {{"X", "women"}}, {}, {{"women", "X"}}, {{"X", "women", "heiress", "heiresses", "an"}}, false};
  expected.settings<probes::association::Association>().axes.traits = {
      {"p", "d", {"low", {"low", "lowly"}}, {"high", {"high", "lofty"}}}};
  expected.settings<probes::association::Association>().axes.templates = {
      {"{group} are {trait}.", "", "{group} are {trait}.", sweep::NounForm::plural},
      {"t", "k", "{trait} {group}", sweep::NounForm::plural}};
  expected.settings<probes::association::Association>().axes.rephrasings = {
      {"r", "So {prompt}", {{"t", "{group} {trait}"}}}, {"{prompt}", "{prompt}", {}}};
  expected.settings<probes::association::Association>().measures = {probes::association::Measure::ilps,
                                                                    probes::association::Measure::set};
  expected.settings<probes::association::Association>().priors = {true, false, "human", "humans"};
  expected.execution = {query::EngineKind::fake, query::Device::cpu, 3, 1, 7, 5, 1000};
  expected.settings<probes::association::Association>().statistics = {
      probes::association::Statistics::Aggregate::mean, "r.tsv", {{"Y", "X"}}, {"t"}};
  EXPECT_EQ(jobs.front(), expected);
}

TEST(JobLoader, defaults_are_those_of_the_domain) {
  const JobFolder folder;
  const auto job = folder.load(small_job).front();
  EXPECT_EQ(job.seed, 0u);
  EXPECT_EQ(job.settings<probes::association::Association>().measures, probes::association::Association().measures);
  EXPECT_EQ(job.settings<probes::association::Association>().priors, sweep::Priors());
  EXPECT_EQ(job.execution, sweep::Execution());
  EXPECT_EQ(job.settings<probes::association::Association>().axes.rephrasings,
            (std::vector<sweep::Rephrasing>{{"none", "{prompt}", {}}}));
  EXPECT_EQ(job.settings<probes::association::Association>().axes.intersections.domains.size(), 1u);
}

TEST(JobLoader, sizes_follow_the_device_that_the_job_names_unless_it_gives_them) {
  const JobFolder folder;
  const auto sizes = [&](const std::vector<std::string>& overrides) {
    const auto execution = folder.load(small_job, overrides).front().execution;
    return std::pair(execution.contexts_per_block, execution.batch_tokens);
  };
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(sizes({}), Sizes(16, 1024));
  EXPECT_EQ(sizes({"execution.device=auto"}), Sizes(16, 1024));
  EXPECT_EQ(sizes({"execution.device=cpu"}), Sizes(16, 1024));
  EXPECT_EQ(sizes({"execution.device=cuda"}), Sizes(256, 16384));
  EXPECT_EQ(sizes({"execution.device=cuda", "execution.batch_tokens=4096"}), Sizes(256, 4096));
  EXPECT_EQ(sizes({"execution.contexts_per_block=16", "execution.device=cuda"}), Sizes(16, 16384));
}

TEST(JobLoader, a_resolved_job_holds_the_sizes_of_its_device) {
  const JobFolder folder;
  const auto job = folder.load(small_job, {"execution.device=cuda"}).front();
  const auto dump = canonical_dump(job);
  EXPECT_THAT(dump, AllOf(HasSubstr("batch_tokens: 16384"), HasSubstr("contexts_per_block: 256")));
  auto elsewhere = load_resolved(dump, "dump");
  EXPECT_EQ(elsewhere, job);
  elsewhere.execution.device = query::Device::cpu;
  EXPECT_EQ(canonical_raw_dump(elsewhere), canonical_raw_dump(job)) << "a run can be continued on another device";
}

TEST(JobLoader, reports_every_problem_at_once_with_place_and_hint) {
  const JobFolder folder;
  const std::string report = folder.complaint(with(
      with(small_job + "measures: [ilps, sett]\nexecution: {thread_per_rank: 2}\n", "name: small", "name: ../small"),
      "{group} are {trait}.", "{group} are {trait} {trait}."));
  EXPECT_THAT(report, HasSubstr("job.yaml:2:name: '../small' is no name of a job"));
  EXPECT_THAT(report, HasSubstr("job.yaml:13:axes.templates[0]: 2 times {trait}"));
  EXPECT_THAT(report, HasSubstr("job.yaml:15:measures[1]: unknown value 'sett'"));
  EXPECT_THAT(report, HasSubstr("Did you mean 'set'?"));
  EXPECT_THAT(report, HasSubstr("job.yaml:16:execution.thread_per_rank: unknown key"));
  EXPECT_THAT(report, HasSubstr("Did you mean 'threads_per_rank'?"));
}

TEST(JobLoader, a_missing_blank_behind_a_colon_is_named) {
  const JobFolder folder;
  EXPECT_THAT(
      folder.complaint(with(small_job, "{path: nowhere}", "{path:nowhere}")),
      HasSubstr(
          "job.yaml:3:model.path:nowhere: unknown key 'path:nowhere' (known here: adapter, chat, chat_name, date, "
          "dtype, interface, "
          "name, path, price, requests, revision, server, system, thinking). Put a blank behind the colon: 'path: '."));
}

TEST(JobLoader, overrides_come_before_checks_and_name_the_command_line) {
  const JobFolder folder;
  const auto job = folder
                       .load(small_job, {"model.path=/a b", "seed=7", "axes.traits=[[cold, warm]]",
                                         "execution.batch_tokens=99", "name=other"})
                       .front();
  EXPECT_EQ(job.model.path, "/a b");
  EXPECT_EQ(job.seed, 7u);
  EXPECT_EQ(job.settings<probes::association::Association>().axes.traits.front().label, "cold - warm");
  EXPECT_EQ(job.execution.batch_tokens, 99);
  EXPECT_EQ(job.name, "other");
  const std::string report =
      folder.complaint(small_job, {"execution.batch_tokens=many", "modl=x", "name.first=y", "=3", "seed"});
  EXPECT_THAT(report, HasSubstr("command line:execution.batch_tokens: a whole number"));
  EXPECT_THAT(report, AllOf(HasSubstr("command line:modl: unknown key"), HasSubstr("Did you mean 'model'?")));
  EXPECT_THAT(report, HasSubstr("command line:name.first: 'first' cannot be set"));
  EXPECT_THAT(report, HasSubstr("command line:=3: no key stands before the '='"));
  EXPECT_THAT(report, HasSubstr("command line:seed: no '=' (a key of the job is set as key=value). Write seed=VALUE."));
}

TEST(JobLoader, slips_of_the_command_line_get_their_own_advice) {
  const JobFolder folder;
  const auto apart = folder.complaint(small_job, {"model.dtype", "bfloat16", "seed=1"});
  EXPECT_THAT(apart, HasSubstr("Write model.dtype=bfloat16."));
  EXPECT_THAT(apart, Not(HasSubstr("bfloat16:")));
  EXPECT_THAT(folder.complaint(small_job, {"name="}), HasSubstr("Write name=VALUE, or leave it out."));
  for (const auto& [value, meant] : {std::pair("fp16", "float16"),
                                     {"bf16", "bfloat16"},
                                     {"half", "float16"},
                                     {"float", "float32"},
                                     {"bfloat61", "bfloat16"}}) {
    EXPECT_THAT(folder.complaint(small_job, {std::string("model.dtype=") + value}),
                HasSubstr(std::string("Did you mean '") + meant + "'?"));
  }
  EXPECT_THAT(folder.complaint(with(small_job, "model:", "modle:")), HasSubstr("Did you mean 'model'?"));
  EXPECT_THAT(folder.complaint(small_job, {"model.dtpye=float32"}), HasSubstr("Did you mean 'dtype'?"));
}

TEST(JobLoader, every_general_key_is_known) {
  const JobFolder folder;
  for (const auto& key : general_keys()) {
    EXPECT_THAT(folder.complaint(small_job, {key + "=!"}), Not(HasSubstr("unknown key"))) << key;
  }
}

TEST(JobLoader, keys_of_every_probe_and_its_own_are_one_list_in_statistics) {
  const JobFolder folder;
  const auto report = folder.complaint(small_job + "statistics: {varation: all, word_agregate: mean}\n");
  EXPECT_THAT(report, AllOf(HasSubstr("statistics.varation: unknown key 'varation'"),
                            HasSubstr("Did you mean 'variation'?"), HasSubstr("Did you mean 'word_aggregate'?")));
  std::set<std::string> known = {"human_ratings", "inference", "templates", "word_aggregate"};
  const sweep::Comparison comparison;
  sweep::Comparison::each_statistic(
      comparison, [&](const sweep::Statistic& statistic, const auto& /*asked*/) { known.insert(statistic.key); });
  EXPECT_GE(known.size(), 13U);
  EXPECT_THAT(report,
              HasSubstr("known here: " + base::join(std::vector<std::string>(known.begin(), known.end()), ", ")));
}

TEST(JobLoader, the_schema_has_every_general_key) {
  const auto schema = job_schema();
  for (const auto& branch : schema["allOf"]) {
    const auto& keys = branch["then"]["properties"];
    for (const auto& key : general_keys()) {
      const auto dot = key.find('.');
      const auto& value = keys.at(key.substr(0, dot));
      const bool is_of_chats =
          std::set<std::string>{"model.chat", "model.chat_name", "model.date", "model.system", "model.thinking"}
              .contains(key);
      if (dot != std::string::npos && !is_of_chats) {
        const auto& own = value.contains("anyOf") ? value["anyOf"].back() : value;
        EXPECT_TRUE(own.at("properties").contains(key.substr(dot + 1))) << key;
      }
    }
  }
}

TEST(JobLoader, a_missing_piece_is_the_only_fault_that_is_told) {
  const JobFolder folder;
  const std::string text =
      "schema: stereosweep/1\nname: n\nmodel: m\nprobe: association\naxes:\n  groups: {file: nobody, only: [a, b]}\n"
      "  intersections: {pairs: [[a, b]], domains: [[x, y]], exclusions: [[b, a]]}\n  traits: [[weak, strong]]\n"
      "  templates: nothing\n  rephrasings: [{label: r, wrapper: '{prompt}', alternatives: {t: '{group} {trait}'}}]\n"
      "statistics: {templates: [t]}\n";
  const auto report = folder.complaint(text);
  EXPECT_THAT(report, AllOf(HasSubstr("no piece 'nobody'"), HasSubstr("no piece 'nothing'")));
  EXPECT_EQ(base::count_of(report, "\n"), 2u) << report;
}

TEST(JobLoader, short_forms_are_taken_or_refused_with_the_full_form) {
  const JobFolder folder;
  EXPECT_THAT(folder.complaint(small_job + "measures: ilps\n"), HasSubstr("a list is expected (here stands the word "
                                                                          "'ilps'). Write [ilps]."));
  EXPECT_THAT(folder.complaint(with(small_job, "[[weak, strong]]", "[weak]")),
              HasSubstr("Write [weak, strong], or {left: [weak, timid], right: [strong, bold]}."));
  EXPECT_THAT(folder.complaint(with(small_job, "{domains: all}", "{pairs: [women]}")),
              HasSubstr("a list is expected (here stands the word 'women'). Write [women]."));
  EXPECT_THAT(folder.complaint(with(small_job, "\"{group} are {trait}.\"", "{trait}")),
              HasSubstr("Put a text that begins with '{' in quotes."));
  const std::string rating =
      "schema: stereosweep/1\nname: n\nmodel: {path: m, chat: none}\nprobe: rating\naxes:\n"
      "  identities: [{marker: old, definition: 'Old {people}.'}]\n"
      "  rated_traits: [{label: warm, dimension: warmth, definition: w}]\n"
      "  rating_questions: ['How {trait} are {identity}?']\n";
  EXPECT_EQ(folder.load(rating).front().settings<probes::rating::Rating>().questions.front().label,
            "How {trait} are {identity}?");
  EXPECT_THAT(folder.complaint(rating, {"axes.identities=[old]", "axes.rated_traits=[warm]"}),
              AllOf(HasSubstr("Write {marker: old, definition: "), HasSubstr("Write {label: friendly, dimension: ")));
}

TEST(JobLoader, what_is_english_is_said_beside_other_sentences) {
  const JobFolder folder;
  const auto said = [&](const std::string& sentence, const std::vector<std::string>& overrides = {}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(folder.complaint(with(small_job, "{group} are {trait}.", sentence), overrides), "");
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said("{group} are {trait}."), IsEmpty());
  EXPECT_THAT(said("{a group} is {trait}."), IsEmpty());
  EXPECT_THAT(said("The {group} I know seem {trait}."), IsEmpty());
  EXPECT_THAT(said("Alle {group} sind {trait}."),
              AllOf(HasSubstr("the English 'person' and 'people'"), Not(HasSubstr("'a' or 'an'"))));
  EXPECT_THAT(said("Een {group} is {trait}.", {"priors={word: [persoon, mensen]}"}), IsEmpty());
  EXPECT_THAT(said("Immer ist {a group} {trait}."), HasSubstr("the English 'a' or 'an'"));
  EXPECT_THAT(said("Все {group} {trait}."), HasSubstr("the English 'person'"));
}

TEST(JobLoader, a_check_reports_with_the_rest_at_the_model) {
  const JobFolder folder;
  const auto path = folder.write(
      "jobs/job.yaml", with(small_job, "name: small", "name: ../small") + "statistics: {human_ratings: nobody.tsv}\n");
  const auto check = [](const sweep::Job& job) { return std::vector<std::string>{job.model.path + " is bad (so)"}; };
  try {
    load_jobs(read_job_file(path), {}, check);
    FAIL() << "nothing was refused";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("job.yaml:2:name: "), HasSubstr("job.yaml:3:model.path: nowhere is bad"),
                                    HasSubstr("job.yaml:15:statistics.human_ratings: nobody.tsv: the table cannot be "
                                              "read")));
  }
  EXPECT_EQ(load_jobs(folder.write("jobs/job.yaml", small_job + "statistics: {human_ratings: nobody.tsv}\n")).size(),
            1u);
}

TEST(JobLoader, a_pipe_is_read_to_its_end) {
  const JobFolder folder;
  const auto pipe = folder.write("jobs/job.yaml", "").parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << small_job; });
  const auto file = read_job_file(pipe);
  writer.join();
  EXPECT_EQ(file.text, small_job);
  EXPECT_EQ(load_jobs(file).front().name, "small");
}

TEST(JobLoader, a_pipe_that_nobody_writes_is_refused) {
  const JobFolder folder;
  const auto pipe = folder.write("jobs/job.yaml", "").parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    read_job_file(pipe);
    ADD_FAILURE() << "it was read";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipe (nothing was written into it)"));
  }
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
  EXPECT_THAT(folder.complaint(small_job + "sweep: {seed: [1, 01]}\n"),
              HasSubstr("two jobs of the sweep are the same: small.1 and small.01"));
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
  EXPECT_EQ(folder.load(text).front().settings<probes::association::Association>().axes.traits.front().label,
            "far - near");
  folder.write("configs/traits/mine.yaml", "schema: stereosweep/1\nabout: x\ntraits:\n  - [here, there]\n");
  EXPECT_EQ(folder.load(text).front().settings<probes::association::Association>().axes.traits.front().label,
            "here - there");
  ::unsetenv("STEREOSWEEP_CONFIGS");
  EXPECT_THAT(folder.complaint(with(text, "mine", "mines")), HasSubstr("Did you mean 'mine'?"));
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
  const auto axes = folder.load(text).front().settings<probes::association::Association>().axes;
  ASSERT_EQ(axes.groups.size(), 2u);
  EXPECT_EQ(axes.groups[0].label, "a");
  EXPECT_EQ(axes.intersections.pairs.size(), 1u);
  EXPECT_THAT(axes.intersections.exclusions, IsEmpty());
  EXPECT_THAT(folder.complaint(with(text, "[b, a]", "[b, z]")), HasSubstr("6:axes.groups.only: unknown label 'z'"));
  EXPECT_EQ(folder.load(text, {"axes.groups.only=[c]", "axes.intersections=none"})
                .front()
                .settings<probes::association::Association>()
                .axes.groups.size(),
            1u);
  EXPECT_EQ(folder.load(with(text, "{file: g, only: [b, a]}", "g"), {"axes.groups.only=[c]"})
                .front()
                .settings<probes::association::Association>()
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
