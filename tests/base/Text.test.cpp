#include "base/text/Text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace stereosweep::base {

namespace {

TEST(Utf8, EveryScalarValueReadsBack) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) {
      continue;
    }
    std::string text;
    append_utf8(text, value);
    const auto point = decode_utf8(text, 0);
    ASSERT_TRUE(point.has_value()) << static_cast<unsigned>(value);
    ASSERT_EQ(point->value, value);
    ASSERT_EQ(point->length, text.size());
  }
}

TEST(Utf8, RefusesOverlongSurrogatesCutAndBeyond) {
  for (const std::string text : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                 "\xF5\x80\x80\x80", "\xE2\x82", "\x80", "\xFF", "\xF0\x8F\xBF\xBF"}) {
    EXPECT_EQ(find_invalid_utf8("ab" + text), 2u);
  }
  EXPECT_FALSE(find_invalid_utf8("Zoë ☃ 😀").has_value());
}

TEST(Numbers, DoublesReadBackExactly) {
  for (const double value : {0.1, 1.0 / 3, -2.5e-308, 1e22, 0.0, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(parse_double(format_double(value)), value);
  }
  EXPECT_FALSE(parse_double("1e999").has_value());
  EXPECT_FALSE(parse_double("1x").has_value());
  EXPECT_FALSE(parse_double("nan").has_value());
  EXPECT_EQ(format_double(std::nan("")), "NaN");
  EXPECT_FALSE(parse_integer("9223372036854775808").has_value());
  EXPECT_EQ(parse_integer("-12"), -12);
}

TEST(Text, ReadsLengthsOfTime) {
  EXPECT_EQ(parse_time("90"), 5400);
  EXPECT_EQ(parse_time("1:30"), 90);
  EXPECT_EQ(parse_time("08:00:05"), 28805);
  EXPECT_EQ(parse_time("1-02:00:00"), 93600);
  for (const auto* text : {"9999999:00:00", "999999-00:00:00", "100000000-100000000:100000000:100000000"}) {
    const auto now = std::chrono::steady_clock::now();
    EXPECT_GT(now + std::chrono::seconds(parse_time(text).value()), now) << text << " is more than a clock counts";
  }
  for (const auto* text : {"", "0", "00:00", "-5", "1-", "1-02", "1-02:00", "1:2:3:4", "x", "1:x", "x-00:00:01", "1.5",
                           "1e3", "99999999999999999999", "-1-00:00:10", "1:-5"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(Text, SplitJoinTrimReplace) {
  EXPECT_EQ(split("a\t\tb", '\t'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(join(split("a,b,c", ','), ", "), "a, b, c");
  EXPECT_EQ(trim(" \t x y\n"), "x y");
  EXPECT_EQ(trim(" "), "");
  EXPECT_EQ(replace_all("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(count_of("{a} {a group} {a}", "{a}"), 2U);
  EXPECT_EQ(count_of("aaa", "aa"), 1U);
  EXPECT_EQ(count_of("", "a"), 0U);
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(123), "123");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(1000, "rank"), "1,000 ranks");
  EXPECT_EQ(counted(2, "query"), "2 queries");
  EXPECT_EQ(counted(1, "query"), "1 query");
  EXPECT_EQ(counted(2, "key"), "2 keys");
}

TEST(Text, JsonQuoteEscapesControlCharacters) { EXPECT_EQ(json_quote("a\"\\\n\x01é"), "\"a\\\"\\\\\\n\\u0001é\""); }

TEST(Text, SuggestsTheNearestNameOnlyIfNear) {
  const std::vector<std::string> names = {"groups", "traits", "templates"};
  EXPECT_EQ(did_you_mean("grups", names), "did you mean 'groups'?");
  EXPECT_EQ(did_you_mean("template", names), "did you mean 'templates'?");
  EXPECT_EQ(did_you_mean("banana", names), "");
  const std::vector<std::string> keys = {"path", "dtype", "model", "float16"};
  EXPECT_EQ(did_you_mean("modle", keys), "did you mean 'model'?");
  EXPECT_EQ(did_you_mean("dtpye", keys), "did you mean 'dtype'?");
  EXPECT_EQ(did_you_mean("half", keys), "did you mean 'float16'?");
  EXPECT_EQ(did_you_mean("bf16", keys), "");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(did_you_mean(std::string(100'000'000, 'a'), names), "");  // 7 s where each letter is compared
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(Printable, LeavesATerminalAlone) {
  EXPECT_EQ(printable("a\tb\nc\u00e9\u4e2d"), "a\tb\nc\u00e9\u4e2d");
  EXPECT_EQ(printable("\x1b[2J\r\x7f\xc2\x9b\xff\xc3"), "\\x1b[2J\\x0d\\x7f\\x9b\\xff\\xc3");
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd"), "a\\u202eb\\u2066c\u200fd");
}

TEST(Excerpt, CutsBetweenCharacters) {
  EXPECT_EQ(excerpt("caf\u00e9", 5), "caf\u00e9");
  EXPECT_EQ(excerpt("caf\u00e9s", 4), "caf...");
  EXPECT_EQ(excerpt("caf\u00e9s", 5), "caf\u00e9...");
}

}  // namespace

}  // namespace stereosweep::base
