#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/Error.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& span : split_words(text)) {
    found.push_back(text.substr(span.begin, span.end - span.begin));
  }
  return found;
}

TEST(Words, WhiteSpaceSeparates) {
  EXPECT_THAT(words("The nurse\tsaid\u00a0so\u3000\n"), ElementsAre("The", "nurse", "said", "so"));
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_THAT(words(" \n "), IsEmpty());
}

TEST(Words, PunctuationStandsAlone) {
  EXPECT_THAT(words("don't (well-known)."), ElementsAre("don", "'", "t", "(", "well", "-", "known", ")", "."));
  EXPECT_THAT(words("\u201eJa\u201c\u2026"), ElementsAre("\u201e", "Ja", "\u201c", "\u2026"));
  EXPECT_THAT(words("$5 a=b"), ElementsAre("$", "5", "a", "=", "b"));
}

TEST(Words, EverythingElseStays) {
  EXPECT_THAT(words("Caf\u00e9 \u65e5\u672c\u8a9e e\u0301 \U0001f600x \u20ac5"),
              ElementsAre("Caf\u00e9", "\u65e5\u672c\u8a9e", "e\u0301", "\U0001f600x", "\u20ac5"));
}

TEST(Words, AreTheTokensOfAnElmoDirectory) {
  base::FileSet files("dir");
  files.add("my_options.json", base::to_shared("{}"));
  const auto tokenizer = Tokenizer::from_files(files);
  const auto encoding = tokenizer.encode("The nurse.", SpecialTokens::add);
  EXPECT_THAT(encoding.ids, IsEmpty());
  EXPECT_THAT(encoding.offsets, ElementsAre(base::Span{0, 3}, base::Span{4, 9}, base::Span{9, 10}));
  EXPECT_EQ(tokenizer.size(), 0U);
  EXPECT_EQ(tokenizer.id_of("The"), std::nullopt);
  EXPECT_EQ(tokenizer.mask_id(), std::nullopt);
  EXPECT_EQ(tokenizer.last_token(), std::nullopt);
  EXPECT_THROW(tokenizer.encode("\xff", SpecialTokens::add), base::InputError);
}

}  // namespace
}  // namespace stereosweep::tokenizer
