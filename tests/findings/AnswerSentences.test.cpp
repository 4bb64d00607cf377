#include <gmock/gmock.h>

#include <cmath>

#include "findings/Finding.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct AnswerRow {
  std::string claim;
  double value = stats::nan;
  double p = stats::nan;
  double adjusted = stats::nan;
  double reach = 1;  ///< of its interval, to both sides
};

const results::AxisSchema measures{"measure", "", {"warm", "cold"}, {{"units", "", {"nat", "1"}}}};

/// Rows of the measure "warm", each with n 7.
Finding finding_of_rows(const std::vector<AnswerRow>& rows) {
  results::AxisSchema axis{"row", "", std::vector<std::string>(rows.size(), "row"), {}};
  axis.coordinates = {{"measure", "", std::vector<std::string>(rows.size(), "warm")}};
  Finding finding{.name = "found", .axes = {axis}};
  finding.add(Role::value, rows, "", "", "value", &AnswerRow::value);
  finding.add(Role::low, rows, "low", "", "low", [](const AnswerRow& row) { return row.value - row.reach; });
  finding.add(Role::high, rows, "high", "", "high", [](const AnswerRow& row) { return row.value + row.reach; });
  finding.add(Role::p, rows, "p", "1", "p", &AnswerRow::p);
  finding.add(Role::adjusted, rows, "p_holm", "1", "adjusted", &AnswerRow::adjusted);
  finding.add(Role::n, rows, "n", "1", "n", [](const AnswerRow& /*row*/) { return 7; });
  finding.views = {{.title = "Rows of ", .columns = table_columns("value:, p")}};
  finding.question = {{.claims = {}, .value = "", .counted = "template"}};
  for (const auto& row : rows) {
    finding.question->claims.push_back(row.claim);
  }
  return finding;
}

std::vector<Sentence> answers_to(const std::vector<AnswerRow>& rows) {
  auto finding = finding_of_rows(rows);
  answer(finding, measures, 0.95);
  return finding.answers;
}

TEST(FindingsAnswers, say_the_rows_with_the_best_evidence_and_how_many_more) {
  const auto told = answers_to({{"a", 1, 0.02, 0.03},
                                {"b", 2, 0.001, 0.004},
                                {"c", -3, 0.001, 0.004},
                                {"", 9, 1e-9, 1e-9},  // says nothing of its own
                                {"d", 1, 0.01, 0.02},
                                {"e", 5, 0.04, 0.06}});
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_EQ(told[0].text, "c: -3.000 nat, -4.000 .. -2.000, p 0.001, adjusted 0.004 (7 templates).");
  EXPECT_THAT(told[1].text, StartsWith("b: 2.000 nat, 1.000 .. 3.000"));
  EXPECT_THAT(told[2].text, AllOf(StartsWith("d: "), HasSubstr("Of 5 rows 4 have a p, adjusted, of at most 5 %.")));
  EXPECT_EQ(told[0].measure, "warm");
}

TEST(FindingsAnswers, say_that_there_is_none_and_what_is_nearest) {
  const auto none = answers_to({{"a", 1, 0.04, 0.08}, {"b", 2, 0.5, 0.5}});
  ASSERT_THAT(none, SizeIs(1));
  EXPECT_EQ(none[0].text,
            "No difference beyond chance. The nearest to it of 2 rows: a: 1.000 nat, 0.000 .. 2.000, p 0.040, adjusted "
            "0.080 (7 templates).");
  const auto without_p = answers_to({{"a", 1}});
  ASSERT_THAT(without_p, SizeIs(1));
  EXPECT_EQ(
      without_p[0].text,
      "This design cannot show any difference: too few templates, wordings or answers for a p. The nearest to it: a: "
      "1.000 nat, 0.000 .. 2.000 (7 templates).");
  EXPECT_EQ(answers_to({{"lower", 0, 1}}).front().text, "No difference beyond chance.") << "0 has no direction";
  EXPECT_EQ(answers_to({{"a"}}).front().text, "Nothing can be said of any difference: there are no scores.");
}

TEST(FindingsAnswers, say_that_a_value_has_no_interval) {
  const auto told = answers_to({{"a", 1, 0.001, 0.001, stats::nan}});
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].text, "a: 1.000 nat, no interval, p 0.001 (7 templates).");
}

TEST(FindingsAnswers, say_of_two_shares_of_one_whole_what_the_first_does) {
  auto finding = finding_of_rows({{"a", 0.25, 0.01, 0.02}, {"b", -0.25, 0.01, 0.02}, {"c", 0.5, 0.01, 0.02}});
  answer(finding, measures, 0.95);
  EXPECT_THAT(finding.answers, SizeIs(3));  // no differences
  finding.answers.clear();
  finding.columns.front().is_difference = true;
  answer(finding, measures, 0.95);
  ASSERT_THAT(finding.answers, SizeIs(2));
  EXPECT_THAT(finding.answers[0].text, StartsWith("c: "));
  EXPECT_THAT(finding.answers[1].text, StartsWith("a: "));
}

TEST(FindingsAnswers, sentences_join_a_count_and_take_no_label_of_a_file) {
  auto finding = finding_of_rows({{"active_harm rises", 1, 0.01, 0.02}});
  finding.columns.back().of = "other";  // its count belongs to another value
  finding.add(Role::n, std::vector<int>{5}, "all", "1", "of all values", [](int number) { return number; });
  answer(finding, measures, 0.95);
  EXPECT_EQ(finding.answers[0].text,
            "active harm rises: 1.000 nat, 0.000 .. 2.000, p 0.010, adjusted 0.020 (5 templates).");
}

TEST(FindingsAnswers, measures_of_the_job_stay_where_nothing_recommended_answers) {
  const auto named_with = [](const std::vector<std::string>& names, const std::vector<std::string>& of) {
    auto finding = finding_of_rows(std::vector<AnswerRow>(names.size(), AnswerRow{"a", 1, 1, 1}));
    finding.axes.front().coordinates = {{"measure", "", of}, {"name", "", names}};
    finding.named = {"warm", "cold"};
    show_measures(finding, {"warm"});
    return finding.named;
  };
  EXPECT_THAT(named_with({"x", "x"}, {"warm", "cold"}), IsEmpty());
  EXPECT_THAT(named_with({"x", "y"}, {"warm", "cold"}), ::testing::ElementsAre("cold"));
}

TEST(FindingsAnswers, warnings_and_answers_stand_beside_the_tables) {
  auto finding = finding_of_rows({{"a", 1, 0.001, 0.001}});
  answer(finding, measures, 0.95);
  finding.warnings = {"beware."};
  finding.notes = "how.";
  const auto told = told_by(finding, 5);
  EXPECT_THAT(told.answers, SizeIs(1));
  EXPECT_THAT(told.warnings, ::testing::ElementsAre("beware."));
  ASSERT_THAT(told.tables, SizeIs(1));
  EXPECT_THAT(told.tables.front().text, AllOf(StartsWith("Rows of warm\n"), HasSubstr("how.\n")));
  EXPECT_THAT(told_by(finding, 5, results::ShownMeasures({"cold"})).tables, IsEmpty());
}

}  // namespace
}  // namespace stereosweep::findings
