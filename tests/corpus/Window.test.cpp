#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "corpus/Sample.hpp"

namespace stereosweep::corpus {
namespace {

Context context_of(const std::string& sentence, const std::string& word) {
  const auto begin = sentence.find(word);
  return {sentence, {begin, begin + word.size()}, 1, "a.txt", 2};
}

std::string word_of(const Context& context) {
  return context.sentence.substr(context.span.begin, context.span.end - context.span.begin);
}

TEST(Window, KeepsSoManyWordsOnEachSide) {
  const auto context = context_of("One two,  three\u00A0four five six", "four");
  EXPECT_EQ(cut_to_window(context, 0), context);
  EXPECT_EQ(cut_to_window(context, 1).sentence, "three\u00A0four five");
  EXPECT_EQ(cut_to_window(context, 2).sentence, "two,  three\u00A0four five six");
  EXPECT_EQ(cut_to_window(context, 9), context);
  EXPECT_EQ(cut_to_window(context, 1).span, (base::Span{7, 11}));
}

TEST(Window, CountsWhatIsGluedToTheWordWithIt) {
  EXPECT_EQ(cut_to_window(context_of("a (not-well-off) b c", "well"), 1).sentence, "a (not-well-off) b");
  EXPECT_EQ(cut_to_window(context_of("  oak tree.  ", "oak tree"), 1).sentence, "oak tree.");
  EXPECT_EQ(cut_to_window(context_of("a b oak tree c d", "oak tree"), 1).sentence, "b oak tree c");
  EXPECT_EQ(cut_to_window(context_of("rose", "rose"), 3).sentence, "rose");
}

// The published rule, written out: words by white space, the word's index i of n.
std::vector<std::string> published_window(const std::vector<std::string>& words, std::size_t i) {
  const auto n = words.size();
  const auto from = n < 9 || i < 4 ? 0 : n - i - 1 < 4 ? n - 9 : i - 4;
  const auto to = n < 9 ? n : i < 4 ? 9 : n - i - 1 < 4 ? n : i + 4;
  return {words.begin() + static_cast<std::ptrdiff_t>(from), words.begin() + static_cast<std::ptrdiff_t>(to)};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

TEST(PublishedWindow, IsTheRuleAtEveryPlaceOfSentencesOfAnyLength) {
  for (std::size_t n = 1; n <= 20; ++n) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::string> words;
      for (std::size_t k = 0; k < n; ++k) {
        words.push_back(k == i ? "rose" : "w" + std::to_string(k));
      }
      const auto cut = cut_as_guo2021(context_of(joined(words), "rose"));
      ASSERT_EQ(cut.sentence, joined(published_window(words, i))) << n << " words, the word at " << i;
      ASSERT_EQ(word_of(cut), "rose");
    }
  }
}

TEST(PublishedWindow, PutsOneBlankBetweenWordsOfLongSentencesOnly) {
  EXPECT_EQ(cut_as_guo2021(context_of("a  b rose\tc", "rose")).sentence, "a  b rose\tc");
  const auto cut = cut_as_guo2021(context_of(" a  b\tc d\u00A0(well-off) e  f g h i ", "well"));
  EXPECT_EQ(cut.sentence, "a b c d (well-off) e f g");
  EXPECT_EQ(word_of(cut), "well");
  EXPECT_EQ(cut_as_guo2021(context_of("a b c d e oak tree f g h i j", "oak tree")).sentence, "b c d e oak tree f g h");
}

TEST(CutToSize, KeepsTheWordAndWholeCharacters) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string before;
    std::string behind;
    const auto glue = random() % 3;
    for (auto count = random() % 60; count > 0; --count) {
      before += random() % 3 < glue ? " " : random() % 2 == 0 ? "é" : "漢";
    }
    for (auto count = random() % 60; count > 0; --count) {
      behind += random() % 3 < glue ? " " : random() % 2 == 0 ? "é" : "x";
    }
    Context context{before + " rose " + behind, {before.size() + 1, before.size() + 5}, 1, "a.txt", 2};
    const std::size_t most = 6 + random() % 80;
    const auto size = context.sentence.size();
    const auto cut = cut_to_size(context, most);
    ASSERT_EQ(word_of(cut), "rose");
    ASSERT_FALSE(base::find_invalid_utf8(cut.sentence));
    ASSERT_LE(cut.sentence.size(), std::max<std::size_t>(most, 4));
    ASSERT_NE(context.sentence.find(cut.sentence), std::string::npos);
    if (size <= most) {
      ASSERT_EQ(cut, context);
    }
  }
}

TEST(CutToSize, CutsAtWhiteSpace) {
  const auto cut = cut_to_size(context_of("alpha beta gamma rose delta epsilon zeta", "rose"), 24);
  EXPECT_EQ(cut.sentence, "gamma rose delta");
  EXPECT_EQ(word_of(cut_to_size(context_of("rose", "rose"), 2)), "rose");
}

}  // namespace
}  // namespace stereosweep::corpus
