// Interview jobs: the shipped pieces, what a dump keeps, all faults in one report.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "base/Error.hpp"
#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "probes/interview/Interview.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::interview {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

sweep::Job load(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return config::load_jobs(std::filesystem::path(source_directory()) / "jobs" / name, overrides).front();
}

const char* const extended_job = "70_stereomap.yaml";
const char* const original_job = "71_stereomap_original.yaml";

std::string fault(const std::string& override_text) {
  try {
    load(extended_job, {override_text});
    return "no fault";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

std::map<std::string, int> items_by_dimension(const Interview& interview) {
  std::map<std::string, int> counts;
  for (const auto& conversation : interview.conversations) {
    for (const auto& turn : conversation.turns) {
      for (const auto& item : turn.items) {
        ++counts[item.dimension];
      }
    }
  }
  return counts;
}

TEST(InterviewJob, shipped_lists_have_the_published_sizes) {
  const auto extended = load(extended_job, {"axes.groups=stereomap_groups", "axes.templates=stereomap_forms"});
  const auto& interview = extended.settings<Interview>();
  EXPECT_EQ(interview.groups.size(), 98U);
  EXPECT_EQ(interview.forms.size(), 4U);
  EXPECT_EQ(items_by_dimension(interview), (std::map<std::string, int>{{"warmth", 4},
                                                                       {"competence", 4},
                                                                       {"beliefs", 2},
                                                                       {"wealth", 2},
                                                                       {"status", 2},
                                                                       {"competition", 2},
                                                                       {"contempt", 2},
                                                                       {"admiration", 2},
                                                                       {"pity", 2},
                                                                       {"envy", 2},
                                                                       {"active_facilitation", 2},
                                                                       {"active_harm", 2},
                                                                       {"passive_facilitation", 2},
                                                                       {"passive_harm", 2}}));
  const auto original = load(original_job);
  EXPECT_EQ(items_by_dimension(original.settings<Interview>()),
            (std::map<std::string, int>{{"competence", 8}, {"warmth", 7}, {"status", 2}, {"competition", 2}}));
}

TEST(InterviewJob, one_conversation_for_each_item_of_a_rating_turn) {
  const auto job = load(extended_job);
  std::vector<std::string> labels;
  for (const auto& conversation : job.settings<Interview>().conversations) {
    labels.push_back(conversation.label);
  }
  EXPECT_THAT(labels, ElementsAre("traits", "structure economically_successful", "structure prestigious_jobs",
                                  "structure special_treatment", "structure resources", "emotions", "behaviours"));
}

TEST(InterviewJob, dump_loads_back_to_an_equal_job) {
  for (const auto& job :
       {load(extended_job), load(original_job),
        load(extended_job,
             {"model.chat=none", "sampling={rounds: 2, top_k: 5, repetition_penalty: 1.1, stop: [\"\\n\"]}",
              "axes.rephrasings=[{label: ask, wrapper: 'They ask: {prompt}'}]",
              "axes.conversations=[{label: a, scale: [[low, -1], [high, 2.5]], turns: [{label: b, kind: "
              "rating, ask: '{item} {group} {scale}', items: [{label: x, dimension: d, polarity: "
              "negative, definition: X.}]}]}]"})}) {
    const auto dump = config::canonical_dump(job);
    EXPECT_EQ(config::load_resolved(dump, "dump"), job) << dump;
  }
}

TEST(InterviewJob, options_may_be_numbers_and_have_notes) {
  const auto job = load(
      extended_job, {"axes.conversations=[{label: a, scale: [1, {text: often, value: 2, note: weekly}], turns: "
                     "[{label: b, kind: rating, ask: '{item} {group} {scale}', items: [{label: x, dimension: d}]}]}]"});
  const auto& interview = job.settings<Interview>();
  EXPECT_THAT(interview.conversations.front().scale.options,
              ElementsAre(RatingOption{"1", 1, ""}, RatingOption{"often", 2, "weekly"}));
  EXPECT_EQ(config::load_resolved(config::canonical_dump(job), "dump"), job);
  EXPECT_THAT(messages_of(interview, subjects_of(interview).subjects.front(), {}).front(),
              HasSubstr("1, often (weekly)"));
}

TEST(InterviewJob, reports_all_faults_of_a_conversation_at_once) {
  const auto text = fault(
      "axes.conversations=[{label: a, scale: {from: 5, to: 1}, turns: [{label: k, kind: keywords, ask: 'Words?'}, "
      "{label: k, kind: reasons, ask: '{grup}'}, {label: r, kind: ratings, ask: 'Rate {group}'}, {label: s, kind: "
      "text}, "
      "{label: q, kind: poem, ask: x}]}]");
  EXPECT_THAT(text,
              AllOf(HasSubstr("a scale from 5 to 1"), HasSubstr("no {group} in turn 'k'"),
                    HasSubstr("two turns have the label 'k'"), HasSubstr("an unknown placeholder in '{grup}'"),
                    HasSubstr("the turn 'r' has 0 items"), HasSubstr("the turn 's' asks nothing"), HasSubstr("poem")));
}

TEST(InterviewJob, each_item_that_is_asked_first_names_the_group) {
  const auto conversation = [](const std::string& kind, const std::string& ask, const std::string& question) {
    return fault("axes.conversations=[{label: a, turns: [{label: first, kind: " + kind + ", ask: '" + ask +
                 "', items: [{label: x, dimension: d}, {label: y, dimension: d" + question + "}]}]}]");
  };
  EXPECT_THAT(conversation("rating", "How {item} are {group}?", ", question: 'How capable are they?'"),
              HasSubstr("no {group} in turn 'first'"));
  EXPECT_THAT(conversation("rating", "How {item} are they?", ", question: 'How capable are {group}?'"),
              HasSubstr("no {group} in turn 'first'"));
  EXPECT_EQ(conversation("rating", "How {item} are {group}?", ", question: 'How capable are {group}?'"), "no fault");
  EXPECT_EQ(conversation("rating", "How {item} are {group}?", ""), "no fault");
}

TEST(InterviewJob, refuses_what_it_could_not_keep_apart) {
  const std::string items = "items: [{label: x, dimension: d}, {label: y, dimension: d}]";
  EXPECT_THAT(fault("axes.conversations=[{label: a, turns: [{label: r, kind: rating, ask: '{group} {item}', " + items +
                    "}, {label: s, kind: ratings, ask: '{items}', items: [{label: z, dimension: d}]}]}]"),
              HasSubstr("and another rates, too"));
  EXPECT_THAT(
      fault("axes.conversations=[{label: a, turns: [{label: r, kind: ratings, ask: '{group} {items}', " + items +
            "}]}, {label: b, turns: [{label: r, kind: ratings, ask: '{group} {items}', " + items + "}]}]"),
      HasSubstr("the item 'x' stands twice"));
  EXPECT_THAT(fault("axes.conversations=[{label: a, turns: [{label: r, kind: reasons, ask: '{group}'}]}]"),
              HasSubstr("no turn before it asks for keywords"));
  EXPECT_THAT(
      fault("axes.conversations=[{label: a, turns: [{label: k, kind: text, when: with_steps, ask: '{group}'}]}]"),
      HasSubstr("every turn is asked with steps only"));
  EXPECT_THAT(fault("axes.templates=[{label: a, text: 'none'}]"), HasSubstr("0 times {question} in 'none'"));
  EXPECT_THAT(fault("sampling={rounds: 2, temperature: 0}"), HasSubstr("2 rounds at temperature 0"));
  EXPECT_THAT(fault("sampling={repetition_penalty: 0.009}"), HasSubstr("0.01"));  // no engine takes it
  EXPECT_THAT(fault("statistics.colour=red"), HasSubstr("colour"));
}

}  // namespace
}  // namespace stereosweep::probes::interview
