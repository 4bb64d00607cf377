// Unicode facts that differ between versions, and normal forms (expected values from UAX #15 and the code charts).
#include "tokenizer/unicode/Unicode.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {
namespace {

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const auto& change : changes) {
    base::append_utf8(text, change.value);
  }
  return text;
}

std::string normal(std::string_view text, Form form, Composition composition) {
  return text_of(normal_form(text, form, composition));
}

TEST(Classes, FollowTheVersionsOfTheWheel) {
  EXPECT_FALSE(is(0x2E43, classes::punctuation));  // punctuation since Unicode 9
  EXPECT_TRUE(is(0x166D, classes::punctuation));   // a symbol since Unicode 12
  EXPECT_TRUE(is(U'$', classes::punctuation));     // ASCII symbols count
  EXPECT_FALSE(is(0x2B820, classes::chinese));     // the gap in the published ranges
  EXPECT_TRUE(is(0x3000, classes::white_space));
  EXPECT_FALSE(is(0x200B, classes::white_space));
}

TEST(Lowercase, KnowsNoContext) {
  EXPECT_EQ(lowercase_of(0x3A3)[0], 0x3C3U);  // final sigma is not special
  EXPECT_EQ(lowercase_of(0x130).size(), 2U);  // dotted capital I
  EXPECT_TRUE(lowercase_of(U'ß').empty());
}

TEST(NormalForm, DecomposesAndOrders) {
  EXPECT_EQ(normal("\u1ead", Form::canonical, Composition::none), "a\u0323\u0302");
  EXPECT_EQ(normal("a\u0302\u0323", Form::canonical, Composition::none), "a\u0323\u0302");
  EXPECT_EQ(normal("\uac01", Form::canonical, Composition::none), "\u1100\u1161\u11a8");
  EXPECT_EQ(normal("\ufb01", Form::canonical, Composition::none), "\ufb01");
  EXPECT_EQ(normal("\ufb01", Form::compatible, Composition::none), "fi");
}

TEST(NormalForm, Composes) {
  EXPECT_EQ(normal("a\u0302\u0323", Form::canonical, Composition::composed), "\u1ead");
  EXPECT_EQ(normal("\u1100\u1161\u11a8", Form::canonical, Composition::composed), "\uac01");
  EXPECT_EQ(normal("\u0958", Form::canonical, Composition::composed), "\u0915\u093c");  // composition exclusion
  EXPECT_EQ(normal("\u212b", Form::canonical, Composition::composed), "\u00c5");
}

TEST(NormalForm, SaysWhatEachCharacterStandsFor) {
  const auto apart = normal_form("\u00e9x", Form::canonical, Composition::none);
  ASSERT_EQ(apart.size(), 3U);
  EXPECT_EQ(apart[1].change, 1);
  const auto together = normal_form("e\u0301x", Form::canonical, Composition::composed);
  ASSERT_EQ(together.size(), 2U);
  EXPECT_EQ(together[0].change, -1);
}

TEST(ToValidUtf8, ReplacesMaximalParts) {
  EXPECT_EQ(to_valid_utf8("a\xE4\xB8z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_valid_utf8("\xF0\x80\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("é中😀"), "é中😀");
}

// Every fact of every code point: what it is, becomes, and how it combines with each character that can follow it. The
// digest was taken of tables that were read off the wheel; it changes with tests/tokenizer/make_unicode_tables.py
// alone.
TEST(EveryCodePoint, IsWhatItIsInTheWheel) {
  base::Sha256 hash;
  std::string text;
  const auto add_forms = [&] {
    for (const auto form : {Form::canonical, Form::compatible}) {
      for (const auto composition : {Composition::none, Composition::composed}) {
        for (const auto& [value, change] : normal_form(text, form, composition)) {
          hash.number(std::uint64_t{value} << 32 | static_cast<std::uint32_t>(change));
        }
      }
    }
  };
  std::set<char32_t> marks;  // that are second in a decomposition
  for (char32_t value = 0; value < 0x110000; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) {
      continue;
    }
    hash.number(std::uint64_t{classes_of(value)} << 32 | older_like(value));
    for (const auto part : lowercase_of(value)) {
      hash.number(part);
    }
    text.clear();
    base::append_utf8(text, value);
    add_forms();
    const auto parts = normal_form(text, Form::canonical, Composition::none);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      marks.insert(parts[i].value);
    }
  }
  const Classes joins = classes::word | classes::combining_mark | classes::reordered | classes::has_canonical;
  for (char32_t value = 0; value < 0x3400; ++value) {
    for (const auto mark : marks) {
      if (value < 0x80 || is(value, joins)) {
        text.clear();
        base::append_utf8(text, value);
        base::append_utf8(text, mark);
        add_forms();
      }
    }
  }
  EXPECT_EQ(base::to_hex(hash.finish()), "08163d193c96d8bb916f49e0d0d720a199ac94ee6c7752cdbd306863f208e98e");
}

}  // namespace
}  // namespace stereosweep::tokenizer
