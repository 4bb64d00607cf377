#include "answers/text/PlainText.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stereosweep::answers {
namespace {

TEST(PlainText, HasNoMarkup) {
  EXPECT_EQ(plain_text("**Rating:** `4`"), "Rating: 4");
  EXPECT_EQ(plain_text("# Answer\n> 4"), "Answer\n 4");
  EXPECT_EQ(plain_text("* warm\n*kind*"), "- warm\nkind");
  EXPECT_EQ(plain_text("a_b _c_"), "a_b c");
  EXPECT_EQ(plain_text("<b>4</b><br>5 < 6"), "4\n5 < 6");
  EXPECT_EQ(plain_text("#3 and\n#4\n#5: kind"), "3 and\n4\n#5: kind");
  EXPECT_EQ(plain_text("3 * 4 is *not* 4"), "3 * 4 is not 4");
}

TEST(PlainText, HasElementsAsLabels) {
  EXPECT_EQ(plain_text("<score>4</score><why>They <i>help</i></why>"), "score: 4\n\nwhy: They help");
  EXPECT_EQ(plain_text("<Kind>4</Kind>"), "kind: 4");
  EXPECT_EQ(plain_text("I say <score>"), "I say");
  EXPECT_EQ(plain_text("<tr><td>kind</td><td>4</td></tr>"), "kind\n\n4");
  EXPECT_EQ(plain_text("<x>" + std::string(5000, 'a') + "</x>"), std::string(5000, 'a')) << "is no label";
}

TEST(WordList, HasTheWordsBetweenBlanks) {
  constexpr auto words = word_list<"kind -> warm">;
  EXPECT_EQ((std::vector<std::string_view>{words.begin(), words.end()}),
            (std::vector<std::string_view>{"kind", "->", "warm"}));
  EXPECT_EQ(word_list<"kind">.size(), 1U);
}

TEST(PlainText, HasNoThoughts) {
  EXPECT_EQ(plain_text("<think>1 or 2</think>3"), "3");
  EXPECT_EQ(plain_text("a <think>never ends"), "a");
  EXPECT_EQ(plain_text("thought before</think>3"), "3");
}

TEST(PlainText, LooksForJsonInTheTimeOfOneReading) {  // else for hours: a model may write nothing but line ends
  const std::string blank(std::size_t{1} << 20, '\n');
  EXPECT_EQ(with_json_as_lines(blank), blank);
}

TEST(PlainText, HasJsonAsLines) {
  EXPECT_EQ(plain_text("```json\n{\"rating\": 4, \"why\": \"kind\"}\n```"), "rating: 4\nwhy: kind");
  EXPECT_EQ(plain_text("Here:\n[\"warm\", \"kind\"]"), "Here:\n- warm\n- kind");
  EXPECT_EQ(plain_text(R"([{"trait": "warm", "score": 4, "why": "a"}])"), "- warm: 4\nwhy: a");
  EXPECT_EQ(plain_text(R"({"warm": {"score": 4}, "kind": [1, 2]})"), "warm:\nscore: 4\nkind:\n- 1\n- 2");
  EXPECT_EQ(plain_text("[a number]"), "[a number]");
  EXPECT_EQ(plain_text(R"({"warm": 4, "warm": 5})"), "warm: 4\nwarm: 5");
}

TEST(PlainText, HasOfJsonWhatAnswers) {
  EXPECT_EQ(plain_text(R"(I say {"group": "bakers", "trait_1": "warm", "rating": 4, "n": 3, "scale": {"max": 5}}.)"),
            "I say group: bakers\ntrait: warm\nrating: 4\n.");
  EXPECT_EQ(plain_text(R"({"ratings": [{"item": "warm", "score": 4, "max": 5}, {"item": "ki)"),
            "ratings:\n- warm: 4\n- ki:");
  EXPECT_EQ(plain_text(R"({"1": "warm", "2": "kind",})"), "1. warm\n2. kind");
  EXPECT_EQ(plain_text("[}"), "[}");
  EXPECT_EQ(plain_text("[x] 4"), "[x] 4");
  EXPECT_EQ(plain_text("{4}"), "{4}");
}

TEST(PlainText, HasTablesAsLines) {
  EXPECT_EQ(plain_text("| # | Trait | Why | Score |\n|---|:-:|---|--:|\n| 1 | Warm | smiles | 4 |\n| 2 | Kind | | 3 |"),
            "- Warm: 4 - smiles\n- Kind: 3");
  EXPECT_EQ(plain_text("| Warm | Kind |\n|---|---|\n| 4 | 3 |"), "Warm: 4\nKind: 3");
  EXPECT_EQ(plain_text("Trait | 1 | 2\n--- | --- | ---\nWarm | | X\nKind | X |"), "- Warm: 2\n- Kind: 1");
  EXPECT_EQ(plain_text("Below:\n\n| Warm | They smile. |\n| Kind | They give. |\n\nDone"),
            "Below:\n\n- Warm: They smile.\n- Kind: They give.\n\nDone");
  EXPECT_EQ(plain_text("warm | kind | busy"), "warm | kind | busy");
  EXPECT_EQ(plain_text("| Trait | Score |\n|---|---|"), "");
}

TEST(PlainText, HasPlainSigns) {
  EXPECT_EQ(plain_text("I\u2019d say \uFF14\u20135\u2026"), "I'd say 4-5...");
  EXPECT_EQ(plain_text("warm\u2014they\u00A0care"), "warm - they care");
  EXPECT_EQ(plain_text("4\r\n5\r6"), "4\n5\n6");
  EXPECT_EQ(plain_text("\u0664 \u2611 \u2B50 \u2610"), "4 [x]   [ ]");
  EXPECT_EQ(plain_text(std::string("a\0b\x01\xFF", 5)), "a b");
}

TEST(TokenizedText, ReadsNumbersAndWords) {
  const TokenizedText text("Don't give 3.5, 1,000 or 2,5!");
  std::vector<double> numbers;
  std::vector<std::string> words;
  for (const auto& token : text.tokens()) {
    if (token.is_number()) {
      numbers.push_back(token.value);
    } else if (token.is_word()) {
      words.emplace_back(token.text);
    }
  }
  EXPECT_EQ(numbers, (std::vector<double>{3.5, 1000, 2.5}));
  EXPECT_EQ(words, (std::vector<std::string>{"don't", "give", "or"}));
  EXPECT_TRUE(text.tokens().front().is_capital);
}

/// The numbers of a text that mark a list.
std::string marks_of(const std::string& text) {
  const TokenizedText tokenized(text);
  std::string marks;
  for (const auto& token : tokenized.tokens()) {
    marks += token.is_list_mark ? std::string(token.text) + " " : "";
  }
  return marks;
}

TEST(ListMarks, RiseFromLineToLineOrInALine) {
  EXPECT_EQ(marks_of("1. warm\n2. kind"), "1 2 ");
  EXPECT_EQ(marks_of("- 3) warm\n- 4) kind"), "3 4 ");
  EXPECT_EQ(marks_of("1. 4\n2. 3"), "1 2 ");
  EXPECT_EQ(marks_of("1. warm: 2. kind: 3. busy"), "1 2 3 ");
  EXPECT_EQ(marks_of("They are: 1. warm 2. kind"), "1 2 ");
  EXPECT_EQ(marks_of("1. warm: 2. They smile.\n2. kind: 3. They give.\n3. busy: 4. They run."), "1 2 3 ");
  EXPECT_EQ(marks_of("warm: 1. kind: 2. busy: 3."), "");
  EXPECT_EQ(marks_of("4. They smile."), "");
  EXPECT_EQ(marks_of("warm: 4. kind: 5. busy: 1."), "");
  EXPECT_EQ(marks_of("1:30 and 2:30"), "");
  EXPECT_EQ(marks_of("1. They smile.\n2"), "1 2 ");  // cut off
  EXPECT_EQ(marks_of("1. Punctual bakers: 2.5 points"), "1 ");
  EXPECT_EQ(with_marks_at_lines("So: (1) warm (2) kind"), "So: \n(1) warm \n(2) kind");
}

TEST(PlainText, HasSentences) {
  const std::vector<std::string_view> expected = {"They say \"warm.\"", "Some say 4.5!", "Why?"};
  EXPECT_EQ(sentences_of("They say \"warm.\" Some say 4.5!\nWhy?"), expected);
}

TEST(ListMarks, AreBulletsAndNumbers) {
  EXPECT_EQ(list_mark("- warm").rest, "warm");
  EXPECT_EQ(list_mark("12) warm").kind, ListMark::Kind::number);
  EXPECT_EQ(list_mark("(12) warm").rest, "warm");
  EXPECT_EQ(list_mark("3 - warm").rest, "warm");
  EXPECT_EQ(list_mark("3 warm").kind, ListMark::Kind::none);
  EXPECT_EQ(list_mark("3. warm").rest, "warm");
  EXPECT_EQ(list_mark("3.5 warm").kind, ListMark::Kind::none);
  EXPECT_EQ(list_mark("warm").kind, ListMark::Kind::none);
}

}  // namespace
}  // namespace stereosweep::answers
