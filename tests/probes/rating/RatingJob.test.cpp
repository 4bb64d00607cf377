// Rating jobs: the shipped pieces, what a dump keeps, faults, human ratings.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "base/Error.hpp"
#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/rating/Rating.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::probes::rating {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const auto shipped_job = std::filesystem::path(source_directory()) / "jobs" / "50_ratings.yaml";

sweep::Job load(const std::vector<std::string>& overrides = {}) {
  return config::load_jobs(shipped_job, overrides).front();
}

std::string fault(const std::string& override_text) {
  try {
    load({override_text});
    return "no fault";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

TEST(RatingJob, shipped_lists_have_the_published_sizes) {
  const auto rating = load().settings<probes::rating::Rating>();
  EXPECT_EQ(rating.identities.size(), 50U);
  EXPECT_EQ(rating.identities[0].label, "young women");
  EXPECT_EQ(rating.identities[1].definition, "Young men are in the first decades of their lives.");
  std::map<std::string, int> counts;
  for (const auto& trait : rating.traits) {
    ++counts[trait.dimension];
  }
  for (const auto& question : rating.questions) {
    ++counts[question.kind];
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"warmth", 10}, {"competence", 10}, {"formal", 10}, {"informal", 10}}));
  EXPECT_EQ(rating.scale.size(), 5U);
  EXPECT_EQ(rating.scale.back().value, 1);
  EXPECT_THAT(rating.sampling.stop, ElementsAre("\n\n", "Question:"));
}

TEST(RatingJob, dump_loads_back_to_an_equal_job) {
  for (const auto& job :
       {load(),
        load({"model.chat=llama2", "scale=[[yes, 1.5], [no, -2]]", "sampling={temperature: 0.25, top_p: 0.9, top_k: 3}",
              "statistics={human_ratings: x.tsv, clusters: {start: random, restarts: 2000, max_clusters: 4}}"}),
        load({"sampling=none", "axes.identities={file: scm_identities, only: [old men]}",
              "axes.rated_traits=[{label: cold, dimension: warmth, polarity: negative, definition: Cold.}]"})}) {
    const auto dump = config::canonical_dump(job);
    EXPECT_EQ(config::load_resolved(dump, "dump"), job) << dump;
    EXPECT_EQ(config::canonical_dump(config::load_resolved(dump, "dump")), dump);
  }
}

TEST(RatingJob, raw_dump_keeps_what_changes_a_number) {
  const auto changes = [](const std::string& text) {
    return config::canonical_raw_dump(load({text})) != config::canonical_raw_dump(load());
  };
  EXPECT_TRUE(changes("model.chat=chatml"));
  EXPECT_TRUE(changes("scale=[[a, 1], [b, 2]]"));
  EXPECT_TRUE(changes("sampling=none"));
  EXPECT_FALSE(changes("statistics.clusters.restarts=5000"));
  EXPECT_FALSE(changes("statistics.human_ratings=x.tsv"));
}

sweep::Job groups(const std::vector<std::string>& overrides = {}) {
  return config::load_jobs(shipped_job.parent_path() / "51_group_ratings.yaml", overrides).front();
}

TEST(RatingJob, groups_cross_as_in_every_probe) {
  const auto job = groups();
  const auto& rating = job.settings<Rating>();
  const auto list = subjects_of(rating);
  ASSERT_GT(list.subjects.size(), 6U);
  EXPECT_EQ(list.subjects[0].plural, "men");
  EXPECT_EQ(list.subjects[6].kind, sweep::SubjectKind::intersection);
  EXPECT_FALSE(list.omissions.empty());
  EXPECT_EQ(rating.scale.size(), 7U);
  EXPECT_EQ(rating.scale.front(), (RatingOption{"1", 1, "not at all"}));
  EXPECT_EQ(rating.scale.back(), (RatingOption{"7", 7, "extremely"}));
  EXPECT_THAT(rating.orders, ElementsAre(OptionOrder::as_listed));
  EXPECT_THAT(rating.traits.back().questions, ElementsAre("How successful have {group} been?"));
  for (const auto& other : {job, groups({"scale=[3, 2, 1]", "orders=[reversed]"}), groups({"axes.rephrasings=none"})}) {
    const auto dump = config::canonical_dump(other);
    EXPECT_EQ(config::load_resolved(dump, "dump"), other) << dump;
  }
}

TEST(RatingJob, own_questions_stand_inside_a_wrapper_as_the_language_says) {
  const auto loaded = [](const std::string& language, const std::string& gender) {
    return groups({"language=" + language, "axes.rephrasings=[{label: ask, wrapper: 'Ganz ehrlich, {prompt}'}]",
                   "axes.groups=[{label: Kinder, singular: Kind, plural: Kinder, domain: age" + gender + "}]",
                   "axes.intersections=none", "axes.templates=['Wie {trait} sind {group}?']",
                   "axes.rated_traits=[{label: kalt, dimension: d}, {label: warm, dimension: d, question: 'Wie {trait} "
                   "sind {group}?'}]"});
  };
  const auto job = loaded("de", ", gender: neuter");
  const RatingProbe probe(job);
  const auto lead = [](const RatingProbe& asked, std::uint64_t context) {
    const auto prompt = asked.prompt(context, OptionOrder::as_listed);
    return prompt.substr(prompt.find("Ganz ehrlich"), 18);
  };
  EXPECT_EQ(lead(probe, 0), "Ganz ehrlich, wie ");
  EXPECT_EQ(lead(probe, 1), "Ganz ehrlich, wie ");
  const auto dump = config::canonical_dump(job);
  EXPECT_EQ(config::load_resolved(dump, "dump"), job) << dump;
  const auto english = loaded("en", "");
  EXPECT_THAT(config::canonical_dump(english), ::testing::Not(HasSubstr("inside")));
  EXPECT_EQ(lead(RatingProbe(english), 1), "Ganz ehrlich, Wie ");
}

TEST(RatingJob, faults_of_groups_and_scales_are_named) {
  const auto complaint = [](const std::string& override_text) -> std::string {
    try {
      groups({override_text});
      return "no fault";
    } catch (const base::InputError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(complaint("axes.identities=scm_identities"), HasSubstr("both axes.groups and axes.identities"));
  EXPECT_THAT(complaint("axes.rating_questions=scm_questions"),
              HasSubstr("both axes.templates and axes.rating_questions"));
  EXPECT_THAT(complaint("axes.people=[women]"), HasSubstr("axes.people beside axes.groups"));
  EXPECT_THAT(complaint("axes.groups=[{singular: man}]"), HasSubstr("'man' has no plural"));
  EXPECT_THAT(complaint("orders=[as_listed, as_listed]"), HasSubstr("stands twice"));
  EXPECT_THAT(complaint("orders=[random]"), HasSubstr("'as_listed', 'reversed'"));
  EXPECT_THAT(complaint("scale={from: 1, to: 40}"), HasSubstr("2 to 26 are expected"));
  EXPECT_THAT(complaint("scale={from: 1}"), HasSubstr("to"));
  EXPECT_THAT(complaint("axes.rated_traits=[{label: a, dimension: b, question: ['{group}?', '{group}!']}]"),
              HasSubstr("has 2 questions for 1 template"));
  EXPECT_THAT(complaint("axes.rated_traits=[{label: a, dimension: b, question: 'How {trait}?'}]"),
              HasSubstr("0 times {group} or {identity}"));
}

TEST(RatingJob, faults_are_named) {
  EXPECT_THAT(fault("axes.identities=[{marker: old, definition: no place}]"), HasSubstr("0 times {people}"));
  EXPECT_THAT(fault("axes.identities=[{marker: old, definition: '{people}'}, {marker: old, definition: '{people}'}]"),
              HasSubstr("'old women' stands twice"));
  EXPECT_THAT(fault("axes.identities={file: scm_identities, only: [old woman]}"),
              HasSubstr("Did you mean 'old women'?"));
  EXPECT_THAT(fault("axes.rating_questions=[{label: a, text: 'How {trait} are {identity} {here}?'}]"),
              HasSubstr("unknown placeholder"));
  EXPECT_THAT(fault("axes.rated_traits=[{label: a, dimension: b, definition: c, polarity: sideways}]"),
              HasSubstr("'positive', 'negative'"));
  EXPECT_THAT(fault("scale=[[a, 1], [a, 2]]"), HasSubstr("repeats a text or a value"));
  EXPECT_THAT(fault("scale=[[a, 1], [b, one]]"), HasSubstr("'one' is no number"));
  EXPECT_THAT(fault("frame='{question} {question}'"), HasSubstr("2 times {question}"));
  EXPECT_THAT(fault("sampling.top_p=1.5"), HasSubstr("from 1e-06 to 1 is expected"));
  EXPECT_THAT(fault("sampling={temperature: 0}"), HasSubstr("greedy answers are all the same"));
  EXPECT_THAT(fault("sampling.stop=['']"), HasSubstr("an empty stop text"));
  EXPECT_THAT(fault("model.chat=lama3"), HasSubstr("llama3"));
  EXPECT_EQ(fault("model={path: /nowhere}"), "no fault") << "the files of a model may come after the job is checked";
  const testing::TemporaryDirectory without_template;
  EXPECT_THAT(fault("model={path: " + without_template.path().string() + "}"), HasSubstr("no chat template is known"));
  EXPECT_THAT(fault("execution.max_cells=1000"), HasSubstr("too many cells"));
  EXPECT_THAT(fault("measures=[ilps]"), HasSubstr("measures"));
}

}  // namespace
}  // namespace stereosweep::probes::rating
