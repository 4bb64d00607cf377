// Compiled expressions against Oniguruma, on those of published files and on odd ones.
#include <gmock/gmock.h>

#include <random>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/regex/Pattern.hpp"

namespace stereosweep::tokenizer {

void PrintTo(const Match& match, std::ostream* out) {
  *out << match.begin << ".." << match.end << (match.is_match ? "+" : "-");
}
static bool operator==(const Match& left, const Match& right) {
  return left.begin == right.begin && left.end == right.end && left.is_match == right.is_match;
}

namespace {

const base::Json nothing;
const std::string file = "tokenizer.json";
const base::JsonValue place(nothing, file, "pre_tokenizer.pattern");

const std::vector<std::string> known = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|\s+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s+)",
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"([\r\n])",
    R"(\s+$)",
    R"( {2,})",
    "[一-龥぀-ゟ゠-ヿ]+",
    R"([0-9][0-9][0-9])",
    R"((a|ab)(c|bcd)?1)",
    R"(\p{L}{2}|[a-z]{2,}1|\s(?=\S)|é?[\d1]+!)",
    R"((?:(?:a|1)?b|\n$)|(?i:k|'?s)!?)",
    R"(\D\-|\p{Lu}{0,2}\p{Ll}|\P{L}\-|[\d\-a-c-]|\S\p{Han})"};

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> atoms = {"a",   "b",  "c",      "Z",      "K",      "\u212a", "s",  "ſ",  "é",
                                                 "中",  "1",  "23",     "½",      "٣",      "'",      "S",  "re", "LL",
                                                 " ",   "  ", "\n",     "\t",     "\r",     "!",      "--", "_",  "😀",
                                                 "bcd", "ß",  "\u00a0", "\u3000", "\u0301", "अ\u0903"};
  std::string text;
  for (auto length = random() % 14; length > 0; --length) {
    text += atoms[random() % atoms.size()];
  }
  return text;
}

TEST(CompiledRegex, FindsWhatOnigurumaFinds) {
  std::mt19937 random(11);
  for (const auto& expression : known) {
    const auto oracle = make_regex(expression, place);
    const auto compiled = make_compiled_regex(expression, place);
    ASSERT_TRUE(compiled) << expression;
    for (int i = 0; i < 4'000; ++i) {
      const auto text = random_text(random);
      std::vector<Match> expected;
      std::vector<Match> found;
      oracle(text, expected);
      compiled(text, found);
      ASSERT_EQ(found, expected) << expression << " in " << base::json_quote(text);
    }
  }
}

TEST(CompiledRegex, KnowsEveryCharacter) {
  std::vector<std::string> runs = {"\\s+", "\\S+", "\\d+", "\\D+", "\\p{Han}+", "[\\s\\d]+", "(?i:k+)", "(?i:s+)"};
  for (const auto* category :
       {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P",  "Pc", "Pd",
        "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "Cc", "Cf"}) {
    runs.push_back("\\p{" + std::string(category) + "}+");
  }
  std::string text;  // every character that is assigned
  for (char32_t value = 1; value < 0xE01F0; value += value == 0xD7FF ? 0x801 : value == 0x323AF ? 0xADC51 : 1) {
    base::append_utf8(text, value);
  }
  for (const auto& run : runs) {
    const auto oracle = make_regex(run, place);
    const auto compiled = make_compiled_regex(run, place);
    ASSERT_TRUE(compiled) << run;
    std::vector<Match> expected;
    std::vector<Match> found;
    oracle(text, expected);
    compiled(text, found);
    EXPECT_TRUE(found == expected) << run;
  }
}

TEST(CompiledRegex, LeavesOtherExpressionsAlone) {
  for (const auto* expression :
       {"a*",     "a|b?",   "(?!a)",  "a+?",     "a++",     "a{1,2}{3}",   "^a",         "\\ba",
        ".",      "[a[b]]", "[a&&b]", "(?i:ss)", "(?i:fL)", "(?i:é)",      "(?i:[a-z])", "(?<=a)b",
        "(a)+",   "\\X",    "\\h",    "(?<n>a)", "[]a]",    "[[:punct:]]", "a{,3}",      "a{b",
        "(a)\\1", "[\\S ]", "\\w",    "[\\W]",   "[a-c-e]", "\\p{^L}",     "\\p{Alpha}"}) {
    EXPECT_FALSE(make_compiled_regex(expression, place)) << expression;
  }
  EXPECT_THROW(make_compiled_regex("(a", place), base::InputError);
}

// Whatever costs too much goes to Oniguruma, which has limits: an answer or an error, in any case soon.
TEST(CompiledRegex, GivesUpOnManyWays) {
  std::string ways;
  for (int i = 0; i < 40; ++i) {
    ways += "(?:a|aa)";
  }
  for (const auto& expression : {ways + "b", std::string("a*a*a*a*a*b"), std::string("a+$")}) {
    const auto compiled = make_compiled_regex(expression, place);
    ASSERT_TRUE(compiled) << expression;
    std::vector<Match> parts;
    try {
      compiled(std::string(3000, 'a') + "c", parts);
      EXPECT_EQ(parts, (std::vector<Match>{{0, 3001, false}})) << expression;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("gave up"));
    }
  }
}

}  // namespace
}  // namespace stereosweep::tokenizer
