#include "results/tables/TerminalTable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/text/Text.hpp"

namespace stereosweep::results {
namespace {

TEST(TerminalTable, AlignsByCodePoints) {
  TerminalTable table({"group", "score"});
  table.add({"größte", "1.5"});
  table.add({"a", "-10.25"});
  EXPECT_EQ(table.text(), "group    score\n--------------\ngrößte     1.5\na       -10.25\n");
  EXPECT_THROW(table.add({"too short"}), std::logic_error);
}

TEST(TerminalTable, FormatsNumbers) {
  EXPECT_EQ(fixed(0.12345), "0.123");
  EXPECT_EQ(fixed(-0.0001), "0.000");
  EXPECT_EQ(fixed(-2.5, 1), "-2.5");
  EXPECT_EQ(fixed(NAN), "-");
  EXPECT_EQ(p_value(0.05), "0.050");
  EXPECT_EQ(p_value(1.234e-9), "1.2e-09");
  EXPECT_EQ(p_value(3e-290), "3.0e-290");
  EXPECT_EQ(p_value(0), "<1e-300");
  EXPECT_EQ(p_value(NAN), "-");
}

TEST(TerminalTable, SmallNumbersKeepTheirSize) {
  EXPECT_EQ(significant(3.4e-7), "3.40e-07");
  EXPECT_EQ(significant(-3.4e-7), "-3.40e-07");
  EXPECT_EQ(significant(0.00123), "0.00123");
  EXPECT_EQ(significant(0.25), "0.250");
  EXPECT_EQ(significant(0), "0.000");
  EXPECT_EQ(significant(NAN), "-");
  EXPECT_EQ(significant(-2e-15, 0.3), "0.000");
  EXPECT_EQ(significant(2e-15, 4e-14), "2.00e-15");
  EXPECT_EQ(significant(0.3, 0.3), "0.300");
  EXPECT_EQ(significant(NAN, NAN), "-");
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const auto& line : base::split(text, '\n')) {
    longest = std::max(longest, static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
                         return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
                       })));
  }
  return longest;
}

TEST(TerminalTable, BreaksHeadsBeforeAnythingElse) {
  TerminalTable table({"group", "set_code_augmented", "set_code_plain", "set_paper_augmented", "set_paper_plain",
                       "a rather long head", "ilps_star"});
  const std::string name = "people who are exactly forty wide in text";
  table.add({name, "0.123", "0.123", "0.123", "0.123", "0.123", "0.123"});
  const auto text = table.text();
  EXPECT_LE(longest_line(text), screen_width());
  for (const auto& line :
       {name + "      0.123  0.123      0.123   0.123   0.123  0.123\n",
        std::string("code_  code_     paper_  paper_    long  ilps_\n"),
        std::string("group                                      augmented  plain  augmented   plain")}) {
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  }
}

TEST(TerminalTable, LongNamesGoOnInTheLineBelow) {
  TerminalTable table({"group", "rather than", "score"});
  const std::string group = "people who are described with a name of more than fifty letters, größte";
  table.add({group, std::string(60, 'x') + "z", "-0.12345678 .. 12.5"});
  table.add({"women", "men", "1.5"});
  const auto text = table.text();
  EXPECT_LE(longest_line(text), screen_width());
  EXPECT_GT(longest_line(text), screen_width() - 8);
  EXPECT_EQ(base::count_of(text, "x"), 60U);
  for (const auto& word : base::split(group, ' ')) {
    EXPECT_THAT(text, ::testing::HasSubstr(word));
  }
  EXPECT_THAT(text, ::testing::ContainsRegex("people [^\n]*x  -0.12345678 .. 12.5\n[^\n]*z\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\nwomen +men +1.5\n"));
}

TEST(TerminalTable, LabelsOfCrowdedTablesStandInLinesOfTheirOwn) {
  TerminalTable table({"contrast", "item", "difference", "low", "high", "effect", "templates", "p", "p adjusted"});
  const std::string label = "privileged - disadvantaged, nationality, aug3, ambiguous sentences";
  table.add({label, "referent", "-0.193", "-0.210", "-0.176", "-8.056", "10", "1.1e-09", "8.5e-08"});
  const auto text = table.text();
  EXPECT_LE(longest_line(text), screen_width());
  EXPECT_THAT(text, ::testing::StartsWith("contrast\n  item "));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n" + label +
                                             "\n  referent +-0.193 +-0.210 +-0.176 +-8.056 +10 +1.1e-09 "
                                             "+8.5e-08\n$"));
}

TEST(TerminalTable, FitsTheScreenThatIsSet) {
  TerminalTable table({"group", "rather than", "first", "second", "third"});
  table.add({std::string(40, 'a'), "b", "-0.123", "-0.456", "-0.789"});
  for (const std::size_t columns : {20, 60, 80, 300}) {
    set_screen_width(columns);
    EXPECT_EQ(screen_width(), std::clamp(columns, least_screen, widest_screen));
    const auto text = table.text() + wrapped("some words that are wrapped, and some more of them after it\n", 2);
    EXPECT_LE(longest_line(text), screen_width());
    EXPECT_THAT(text, ::testing::HasSubstr("aaaaaaaaaaaaaaaaaaaa"));
    EXPECT_EQ(base::count_of(text, "some"), 2U);
    EXPECT_THAT(text, ::testing::HasSubstr("-0.789\n"));
    EXPECT_EQ(wrapped(text, 2), text);  // once is enough
  }
  set_screen_width(widest_screen);
}

TEST(TerminalTable, ContinuesWithMoreColumnsThanFit) {
  std::vector<std::string> head = {"identity"};
  std::vector<std::string> row = {"women"};
  for (int column = 0; column < 30; ++column) {
    head.push_back("m" + std::to_string(column));
    row.push_back("-1.234");
  }
  TerminalTable table(head);
  table.add(row);
  const auto text = table.text();
  EXPECT_LE(longest_line(text), screen_width());
  EXPECT_EQ(base::count_of(text, "identity"), 3U);
  EXPECT_EQ(base::count_of(text, "-1.234"), 30U);
  EXPECT_THAT(text, ::testing::HasSubstr("m29\n"));
}

TEST(TerminalTable, WrapsSentencesAtSpaces) {
  EXPECT_EQ(wrapped("short\n\nlines stay\n"), "short\n\nlines stay\n");
  std::string words;
  for (int word = 0; word < 60; ++word) {
    words += (word == 0 ? "" : " ") + std::string("größe");
  }
  const auto text = wrapped("  " + words, 2);
  EXPECT_LE(longest_line(text), screen_width());
  EXPECT_EQ(base::count_of(text, "größe"), 60U);
  EXPECT_THAT(text, ::testing::AllOf(::testing::StartsWith("  größe"), ::testing::HasSubstr("größe\n    größe")));
}

TEST(TerminalTable, SaysHowToSeeTheRest) {
  EXPECT_EQ(rest_text(5, 51, "groups"), "(5 of 51 groups; --top 51 shows all)\n");
  EXPECT_EQ(rest_text(5, 5, "groups"), "");
  EXPECT_EQ(first_names({"women", "men", "people"}, 2), "women, men and 1 more");
  EXPECT_EQ(first_names({"women", "men"}, 2), "women, men");
}

}  // namespace
}  // namespace stereosweep::results
