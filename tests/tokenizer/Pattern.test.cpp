// Patterns: what a text is cut at. GPT-2's words, as they are compiled, are compared with Oniguruma's.
#include "tokenizer/regex/Pattern.hpp"

#include <gmock/gmock.h>

#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/regex/Pattern.hpp"

namespace stereosweep::tokenizer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const base::Json nothing;
const std::string pattern_file = "tokenizer.json";
const base::JsonValue place(nothing, pattern_file, "pre_tokenizer.pattern");

std::vector<std::string> parts_of(const Pattern& pattern, std::string_view text) {
  std::vector<Match> parts;
  pattern(text, parts);
  std::vector<std::string> found;
  for (const auto& part : parts) {
    found.push_back((part.is_match ? "+" : "-") + std::string(text.substr(part.begin, part.end - part.begin)));
  }
  return found;
}

TEST(Gpt2Words, LeaveTheLastSpaceToTheNextWord) {
  EXPECT_EQ(parts_of(make_expression(gpt2_words, place), "It's  so\n\n "),
            (std::vector<std::string>{"+It", "+'s", "+ ", "+ so", "+\n\n "}));
}

TEST(Gpt2Words, AgreeWithOnigurumaOnRandomText) {
  const auto compiled = make_expression(gpt2_words, place);
  const auto oracle = make_regex(gpt2_words, place);
  const std::vector<std::string> atoms = {"a",      "Z",      "é",      "中", "1", "½",      "٣",      "'",
                                          "s",      "re",     "ll",     "ve", " ", "  ",     "\n",     "\t",
                                          "\r",     "!",      "--",     "_",  "😀", "\u00a0", "\u3000", "\u0301",
                                          "\u200d", "\u2028", "\u180e", "ª",  "²", "Ⅷ",      "अ",      "\u0903"};
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto length = random() % 12; length > 0; --length) {
      text += atoms[random() % atoms.size()];
    }
    ASSERT_EQ(parts_of(compiled, text), parts_of(oracle, text)) << base::json_quote(text);
  }
}

TEST(Gpt2Words, AgreeWithOnigurumaOnEveryCharacter) {
  const auto compiled = make_expression(gpt2_words, place);
  const auto oracle = make_regex(gpt2_words, place);
  for (char32_t value = 1; value < 0x110000; ++value) {
    if (value >= 0xD800 && value < 0xE000) {
      continue;
    }
    std::string text = "a";
    base::append_utf8(text, value);
    text += "1 ";
    base::append_utf8(text, value);
    ASSERT_EQ(parts_of(compiled, text), parts_of(oracle, text)) << std::hex << static_cast<unsigned>(value);
  }
}

TEST(Gpt2Words, TakeAMegabyteOfOneCharacter) {
  for (const char c : {'a', ' ', '7', '-', '\''}) {
    std::vector<Match> parts;
    make_expression(gpt2_words, place)(std::string(1 << 20, c), parts);
    EXPECT_EQ(parts.size(), 1U) << c;
  }
}

// As the wheel's Oniguruma has it.
TEST(Regex, CountsSymbolsAsPunctuation) {
  for (const auto* expression : {"[[:punct:]]", "[^[:^punct:]]", "[0[:punct:]]", "\\p{PosixPunct}"}) {
    const auto regex = make_regex(expression, place);
    EXPECT_EQ(parts_of(regex, "a$b«c"), (std::vector<std::string>{"-a", "+$", "-b", "+«", "-c"})) << expression;
  }
}

TEST(Regex, StepsOverEmptyMatches) {
  EXPECT_EQ(parts_of(make_regex("b*", place), "abbé"), (std::vector<std::string>{"+", "-a", "+bb", "-é", "+"}));
}

TEST(Regex, ThatDoesNotCompileIsRefusedWithItsPlace) {
  EXPECT_THAT([] { make_regex("(a", place); },
              ThrowsMessage<base::InputError>(HasSubstr("tokenizer.json:pre_tokenizer.pattern")));
}

TEST(Regex, ThatBacktracksForeverGivesUp) {
  const auto hostile = make_regex("(a+)+$", place);
  std::vector<Match> parts;
  EXPECT_THAT([&] { hostile(std::string(200, 'a') + "!", parts); }, ThrowsMessage<base::Error>(HasSubstr("gave up")));
}

TEST(Literal, MatchesWithoutOverlap) {
  EXPECT_EQ(parts_of(make_literal("aa"), "aaab"), (std::vector<std::string>{"+aa", "-ab"}));
  EXPECT_EQ(parts_of(make_literal(""), "ab"), (std::vector<std::string>{"-ab"}));
}

}  // namespace
}  // namespace stereosweep::tokenizer
