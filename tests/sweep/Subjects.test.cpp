#include "sweep/Subjects.hpp"

#include <gmock/gmock.h>

namespace stereosweep::sweep {
namespace {

using ::testing::ElementsAre;

Group group(const std::string& singular, const std::string& plural, const std::string& domain,
            const std::string& adjective) {
  Group value;
  value.label = plural;
  value.domain = domain;
  value.singular = singular;
  value.plural = plural;
  value.adjective = adjective;
  return value;
}

/// A product with the priors of most jobs.
struct SmallProduct : Axes {
  Priors priors;
};

SubjectList list_subjects(const SmallProduct& product) {
  return list_subjects(product.groups, product.intersections, forms_of(product.templates), product.priors);
}

SmallProduct small_job() {
  SmallProduct job;
  job.groups = {group("woman", "women", "gender", "female"), group("doctor", "doctors", "work", ""),
                group("unemployed person", "unemployed people", "work", "unemployed"),
                group("person with a disability", "people with disabilities", "ability", "")};
  job.groups.back().suffix = "with a disability";
  job.groups.back().suffix_plural = "with disabilities";
  job.templates = {{"s", "", "{a group} {trait}", NounForm::singular}, {"p", "", "{group} {trait}", NounForm::plural}};
  return job;
}

std::vector<std::string> forms(const SubjectList& list) {
  std::vector<std::string> lines;
  for (const auto& subject : list.subjects) {
    if (subject.kind == SubjectKind::intersection) {
      lines.push_back(subject.article + " " + subject.singular + "/" + subject.plural);
    }
  }
  return lines;
}

std::vector<std::string> reasons(const SubjectList& list) {
  std::vector<std::string> lines;
  for (const auto& omission : list.omissions) {
    lines.push_back(omission.first + " x " + omission.second + ": " + omission.reason);
  }
  return lines;
}

TEST(Subjects, priors_come_first_then_groups) {
  auto job = small_job();
  auto list = list_subjects(job);
  ASSERT_EQ(list.subjects.size(), 6u);
  EXPECT_EQ(list.num_priors, 2u);
  EXPECT_EQ(list.subjects[0].kind, SubjectKind::prior_word);
  EXPECT_EQ(list.subjects[0].plural, "people");
  EXPECT_EQ(list.subjects[1].kind, SubjectKind::prior_mask);
  EXPECT_EQ(list.subjects[2].label, "women");
  EXPECT_EQ(list.subjects[4].article, "an");
  job.priors.word = false;
  list = list_subjects(job);
  EXPECT_EQ(list.num_priors, 1u);
  EXPECT_EQ(list.subjects[0].kind, SubjectKind::prior_mask);
}

TEST(Subjects, groups_with_equal_words_are_named) {
  auto job = small_job();
  auto& groups = job.groups;
  EXPECT_TRUE(groups_with_equal_words(groups).empty());
  groups.push_back(group("doctor", "doctors", "health", "medical"));
  groups.back().label = "physicians";
  const auto sentences = groups_with_equal_words(groups);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0], "the group 'physicians' has the same words as 'doctors' (doctors): its scores repeat");
}

TEST(Subjects, crossings_use_adjectives_and_suffixes_in_both_orders) {
  auto job = small_job();
  job.intersections.domains = {{"gender", "work"}, {"work", "ability"}};
  const auto list = list_subjects(job);
  EXPECT_THAT(
      forms(list),
      ElementsAre("a female doctor/female doctors", "a female unemployed person/female unemployed people",
                  "an unemployed woman/unemployed women", "a doctor with a disability/doctors with disabilities",
                  "an unemployed person with a disability/unemployed people with disabilities"));
  EXPECT_THAT(
      reasons(list),
      ElementsAre("doctors x women: no form: 'doctors' has no adjective and 'women' no suffix",
                  "people with disabilities x doctors: no form: 'people with disabilities' has no adjective and "
                  "'doctors' no suffix",
                  "people with disabilities x unemployed people: no form: 'people with disabilities' has no "
                  "adjective and 'unemployed people' no suffix"));
  EXPECT_EQ(list.subjects[6].label, "women x doctors");
  EXPECT_THAT(list.subjects[6].components, ElementsAre("women", "doctors"));
  EXPECT_THAT(list.subjects[6].domains, ElementsAre("gender", "work"));
}

TEST(Subjects, one_order_exclusions_repeats_and_lexical_forms) {
  auto job = small_job();
  auto& rule = job.intersections;
  rule.both_orders = false;
  rule.pairs = {{"women", "doctors"}};
  rule.domains = {{"gender", "work"}};
  rule.exclusions = {{"unemployed people", "women"}};
  rule.lexical = {{"women", "doctors", "doctoress", "doctoresses", "an"}};
  auto list = list_subjects(job);
  EXPECT_THAT(forms(list), ElementsAre("an doctoress/doctoresses"));
  EXPECT_THAT(reasons(list), ElementsAre("women x unemployed people: excluded"));
  rule.lexical[0].singular = "doctor";
  rule.lexical[0].plural = "doctors";
  list = list_subjects(job);
  EXPECT_THAT(forms(list), ElementsAre());
  EXPECT_EQ(list.omissions[0].reason, "same words as another subject: 'doctors'");
}

TEST(Subjects, three_groups_give_one_noun_adjectives_before_it_and_suffixes_behind) {
  auto job = small_job();
  job.groups.push_back(group("Black person", "Black people", "race", "Black"));
  auto& rule = job.intersections;
  rule.both_orders = false;
  rule.pairs = {{"Black people", "women", "unemployed people"},
                {"Black people", "women", "people with disabilities"},
                {"unemployed people", "people with disabilities", "women"},
                {"people with disabilities", "Black people", "women"},
                {"Black people", "unemployed people", "women", "people with disabilities"}};
  auto list = list_subjects(job);
  EXPECT_THAT(forms(list),
              ElementsAre("a Black female unemployed person/Black female unemployed people",
                          "a Black woman with a disability/Black women with disabilities",
                          "a Black unemployed woman with a disability/Black unemployed women with disabilities"));
  EXPECT_THAT(reasons(list),
              ElementsAre("unemployed people x people with disabilities + women: no form: 'people with disabilities' "
                          "has no adjective and 'women' no suffix",
                          "people with disabilities x Black people + women: no form: 'people with disabilities' has "
                          "no adjective and 'women' no suffix"));
  EXPECT_EQ(list.subjects.back().label, "Black people x unemployed people x women x people with disabilities");
  EXPECT_THAT(list.subjects.back().domains, ElementsAre("race", "work", "gender", "ability"));
  rule.lexical = {{"Black people", "women", "Blackwoman", "Blackwomen", ""}};
  list = list_subjects(job);
  EXPECT_THAT(forms(list),
              ElementsAre("a Black female unemployed person/Black female unemployed people",  // no noun of the form
                          "a Blackwoman with a disability/Blackwomen with disabilities",
                          "a Black unemployed woman with a disability/Black unemployed women with disabilities"));
}

TEST(Subjects, three_domains_are_crossed_in_all_orders_without_what_is_excluded) {
  auto job = small_job();
  job.groups = {group("woman", "women", "gender", "female"), group("man", "men", "gender", "male"),
                group("nurse", "nurses", "work", "nursing"), group("Black person", "Black people", "race", "Black"),
                group("White person", "White people", "race", "White")};
  auto& rule = job.intersections;
  rule.domains = {{"gender", "work", "race"}};
  EXPECT_EQ(most_subjects(job.groups, rule), 5u + 6 * 2 * 1 * 2);
  auto list = list_subjects(job);
  ASSERT_EQ(list.subjects.size(), 2 + 5 + 24u);
  const auto plural = [&](std::size_t place) { return list.subjects[place].plural; };
  EXPECT_EQ(plural(7), "female nursing Black people");
  EXPECT_EQ(plural(8), "female Black nurses");
  EXPECT_EQ(plural(9), "nursing female Black people");
  EXPECT_EQ(plural(12), "Black nursing women");
  EXPECT_EQ(plural(13), "female nursing White people");
  rule.exclusions = {{"nurses", "men"}, {"White people", "women", "nurses"}};
  list = list_subjects(job);
  EXPECT_EQ(list.subjects.size(), 2 + 5 + 6u);
  EXPECT_EQ(list.omissions.size(), 18u);
  EXPECT_THAT(reasons(list), ::testing::Contains("men x nurses + Black people: excluded"));
  EXPECT_THAT(reasons(list), ::testing::Contains("White people x nurses + women: excluded"));
  rule.both_orders = false;
  rule.exclusions.clear();
  EXPECT_EQ(list_subjects(job).subjects.size(), 2 + 5 + 4u);
  EXPECT_EQ(most_subjects(job.groups, rule), 5u + 4);
}

TEST(Subjects, declared_nouns_and_articles_are_used) {
  auto job = small_job();
  job.groups[0].noun_singular = "lady";
  job.groups[0].noun_plural = "ladies";
  job.groups[2].article = "a";
  job.intersections.pairs = {{"unemployed people", "women"}};
  EXPECT_THAT(forms(list_subjects(job)), ElementsAre("a unemployed lady/unemployed ladies",
                                                     "a female unemployed person/female unemployed people"));
}

TEST(Subjects, a_form_counts_only_where_a_template_needs_it) {
  auto job = small_job();
  job.groups[0].singular.clear();
  job.intersections.pairs = {{"unemployed people", "women"}};
  job.intersections.both_orders = false;
  EXPECT_EQ(reasons(list_subjects(job)).at(0), "unemployed people x women: no singular form, which a template needs");
  job.templates.erase(job.templates.begin());
  EXPECT_EQ(list_subjects(job).subjects.back().plural, "unemployed women");
}

}  // namespace
}  // namespace stereosweep::sweep
