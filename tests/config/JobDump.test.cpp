#include <gmock/gmock.h>

#include "base/files/Sha256.hpp"
#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/association/Association.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/rating/Rating.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A job in which no member has its default, with texts that YAML would take for something else.
sweep::Job unusual_job() {
  sweep::Job job;
  job.probe = probes::association::Association();
  job.name = "unusual";
  job.seed = 18446744073709551615u;
  job.model = {"/a: b #c", query::Dtype::bfloat16};
  job.settings<probes::association::Association>().axes.groups = {
      {"no", "null", "~", "- x: \"y\\z\" 'q'", "an", "1e3", "true", "&a", "*b", "!c"},
      {"\xC3\xA9t\xC3\xA9 \xE2\x80\xA8 \xF0\x9F\x99\x82", "d", "s", "p", "", "", "", "", "", ""},
  };
  job.settings<probes::association::Association>().axes.intersections = {
      {{"no", job.settings<probes::association::Association>().axes.groups[1].label}},
      {{"null", "d"}},
      {{"no", job.settings<probes::association::Association>().axes.groups[1].label}},
      {},
      false};
  job.settings<probes::association::Association>().axes.intersections.lexical = {
      {"no", job.settings<probes::association::Association>().axes.groups[1].label, "@x", "`y", "an"}};
  job.settings<probes::association::Association>().axes.traits = {
      {"0x10", "", {"- ", {"-", "?"}}, {"1_000", {"1_000", "---"}}}};
  job.settings<probes::association::Association>().axes.traits[0].left.name = "-";
  job.settings<probes::association::Association>().axes.templates = {
      {"a: b", "k", "{a group} {trait} #", sweep::NounForm::singular}};
  job.settings<probes::association::Association>().axes.rephrasings = {{"r", "", {{"a: b", "{trait} {group}"}}},
                                                                       {"w", "\"{prompt}\"", {}}};
  job.settings<probes::association::Association>().measures = {probes::association::Measure::ilps_star};
  job.settings<probes::association::Association>().priors = {false, false, "person", "people"};
  job.execution = {query::EngineKind::fake, query::Device::cuda, 2, 1, 3, 4, 5};
  job.execution.max_cells = 1000;
  job.execution.block_limit_s = 60;
  job.settings<probes::association::Association>().statistics = {
      probes::association::Statistics::Aggregate::mean, "r.tsv", {{"x: y", "no"}}, {"a: b"}};
  return job;
}

TEST(JobDump, the_revision_of_a_model_is_no_raw_number) {
  auto job = unusual_job();
  job.model.path = "org/model@v1";
  const auto before = canonical_raw_dump(job);
  job.model.revision = std::string(40, 'a');
  EXPECT_EQ(job.model.location(), "org/model@" + job.model.revision);
  EXPECT_EQ(canonical_raw_dump(job), before);
  const auto again = load_resolved(canonical_dump(job), "dump");
  EXPECT_EQ(again, job);
  EXPECT_EQ(again.model.revision, job.model.revision);
}

TEST(JobDump, loads_back_to_an_equal_job) {
  const auto job = unusual_job();
  const auto dump = canonical_dump(job);
  EXPECT_EQ(load_resolved(dump, "dump"), job) << dump;
  EXPECT_EQ(canonical_dump(load_resolved(dump, "dump")), dump);
}

TEST(JobDump, a_loaded_job_and_its_table_of_priors_survive) {
  const JobFolder folder;
  for (const auto& extra :
       {std::string(), std::string("priors: {word: false}\n"), std::string("priors: {word: [a, b]}\n")}) {
    const auto job = folder.load(small_job + extra).front();
    EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job);
  }
}

TEST(JobDump, raw_dump_holds_what_can_change_a_number_and_nothing_else) {
  const auto raw = [](auto change) {
    auto job = unusual_job();
    change(job);
    return canonical_raw_dump(job);
  };
  const std::string original = canonical_raw_dump(unusual_job());
  EXPECT_EQ(raw([](sweep::Job& job) { job.name = "b"; }), original);
  EXPECT_EQ(raw([](sweep::Job& job) { job.settings<probes::association::Association>().statistics = {}; }), original);
  EXPECT_EQ(raw([](sweep::Job& job) { job.execution.device = query::Device::cpu; }), original);
  EXPECT_EQ(raw([](sweep::Job& job) { job.execution.max_cells = 77; }), original);
  EXPECT_EQ(raw([](sweep::Job& job) { job.execution.block_limit_s = 0; }), original);
  EXPECT_EQ(raw([](sweep::Job& job) { job.model.path = "/moved"; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.seed = 1; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.model.dtype = query::Dtype::float32; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.execution.engine = query::EngineKind::torch; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.execution.threads_per_rank = 9; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.execution.batch_tokens = 9; }), original);
  EXPECT_NE(raw([](sweep::Job& job) { job.execution.contexts_per_block = 9; }), original);
  EXPECT_NE(raw([](sweep::Job& job) {
              job.settings<probes::association::Association>().measures.push_back(probes::association::Measure::set);
            }),
            original);
  EXPECT_NE(raw([](sweep::Job& job) { job.settings<probes::association::Association>().priors.mask = true; }),
            original);
  EXPECT_NE(raw([](sweep::Job& job) { job.settings<probes::association::Association>().axes.groups[1].plural = "q"; }),
            original);
  EXPECT_NE(raw([](sweep::Job& job) {
              job.settings<probes::association::Association>().axes.intersections.both_orders = true;
            }),
            original);
  EXPECT_NE(raw([](sweep::Job& job) { job.settings<probes::association::Association>().axes.rephrasings.pop_back(); }),
            original);
}

TEST(JobDump, the_seed_counts_only_where_something_is_drawn) {
  const auto differ = [](sweep::Job job) {
    job.execution.engine = query::EngineKind::torch;
    auto other = job;
    other.seed = job.seed + 1;
    return canonical_raw_dump(job) != canonical_raw_dump(other);
  };
  auto job = unusual_job();
  EXPECT_FALSE(differ(job));
  probes::coreference::Coreference coreference;
  job.probe = coreference;
  EXPECT_FALSE(differ(job));
  coreference.ambiguous_referent = probes::coreference::AmbiguousReferent::random;
  job.probe = coreference;
  EXPECT_TRUE(differ(job));
  probes::rating::Rating rating;
  job.probe = rating;
  EXPECT_TRUE(differ(job));
  rating.sampling.temperature = 0;
  job.probe = rating;
  EXPECT_FALSE(differ(job));
  probes::contexts::Contexts contexts;
  job.probe = contexts;
  EXPECT_TRUE(differ(job));
  contexts.vectors = probes::contexts::StaticVectors{};
  job.probe = contexts;
  EXPECT_FALSE(differ(job));
  contexts.unequal_sets = probes::contexts::UnequalSets::trim;
  job.probe = contexts;
  EXPECT_TRUE(differ(job));
}

/// A changed byte here refuses every run directory that users have: then the old dumps must be read on purpose.
TEST(JobDump, raw_dump_of_an_association_job_keeps_its_bytes) {
  EXPECT_EQ(base::to_hex(base::sha256(canonical_raw_dump(unusual_job()))),
            "e1dac8b861331e52f066073af2a7833bc0530bc9be02f3a8e61912aae756c487");
}

TEST(JobDump, differences_name_fields_with_both_values) {
  const auto job = unusual_job();
  auto other = job;
  EXPECT_THAT(differences(canonical_dump(job), canonical_dump(other)), IsEmpty());
  other.execution.batch_tokens = 8;
  other.settings<probes::association::Association>().axes.groups[0].plural = "changed";
  other.settings<probes::association::Association>().axes.groups.push_back(
      {"new", "", "", "new", "", "", "", "", "", ""});
  other.settings<probes::association::Association>().axes.traits[0].right.words.pop_back();
  other.settings<probes::association::Association>().measures.push_back(probes::association::Measure::set);
  other.settings<probes::association::Association>().statistics.human_ratings.clear();
  other.settings<probes::association::Association>().statistics.rating_aliases.clear();
  EXPECT_THAT(differences(canonical_dump(job), canonical_dump(other)),
              ElementsAre("axes.groups[no].plural: '- x: \"y\\z\" 'q'', now 'changed'", "axes.groups[new]: only now",
                          "axes.traits[0x10].right.words['---']: only before", "measures[set]: only now",
                          "execution.batch_tokens: 3, now 8",
                          "statistics.human_ratings: {path: 'r.tsv', aliases: {x: y: 'no'}}, now (nothing)"));
  auto turned = job;
  std::swap(turned.settings<probes::association::Association>().axes.groups[0],
            turned.settings<probes::association::Association>().axes.groups[1]);
  EXPECT_THAT(differences(canonical_dump(job), canonical_dump(turned)),
              ElementsAre("axes.groups: the same entries in another order"));
  EXPECT_THROW(differences("a: [", "b: 1"), base::InputError);
}

TEST(JobDump, a_resolved_job_names_no_other_files_and_takes_overrides) {
  const auto dump = canonical_dump(unusual_job());
  EXPECT_THROW(load_resolved(dump + "sweep: {seed: [1]}\n", "dump"), base::InputError);
  EXPECT_THROW(load_resolved(dump, "dump", {"axes.traits=abc_traits"}), base::InputError);
  EXPECT_EQ(load_resolved(dump, "dump", {"statistics.word_aggregate=median"})
                .settings<probes::association::Association>()
                .statistics.word_aggregate,
            probes::association::Statistics::Aggregate::median);
}

TEST(JobDump, long_axes_load_back_although_they_pass_the_limits_of_job_files) {
  auto job = unusual_job();
  job.settings<probes::association::Association>().axes.intersections = {};
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "g" + std::to_string(i);
    job.settings<probes::association::Association>().axes.groups.push_back(
        {name, "d", name, name, "a", name, name, name, name, name});
  }
  job.execution.max_cells = 1'000'000;
  EXPECT_EQ(load_resolved(canonical_dump(job), "dump"), job);
}

}  // namespace
}  // namespace stereosweep::config
