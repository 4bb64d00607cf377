#include "engine/QueryInput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "engine/CausalTokenizer.hpp"

namespace stereosweep::engine {
namespace {

using ::testing::ElementsAre;
using testing::FirstToken;

class ContinuationBorderTest : public ::testing::Test {
 protected:
  // Texts of the continuation's tokens.
  std::vector<std::string> pieces(const std::string& prompt, const std::string& continuation,
                                  const tokenizer::Tokenizer& tokenizer) const {
    const auto joint = ContinuationBorder(prompt, tokenizer, query::Framing::tokenizer).join(continuation);
    std::vector<std::string> texts;
    for (auto i = joint.begin; i < joint.ids.size(); ++i) {
      texts.push_back(tokenizer.decode(std::span(joint.ids).subspan(i, 1), tokenizer::Tokenizer::Special::keep));
    }
    return texts;
  }

  tokenizer::Tokenizer plain = testing::causal_tokenizer(FirstToken::none);
  tokenizer::Tokenizer with_first = testing::causal_tokenizer(FirstToken::beginning);
};

TEST_F(ContinuationBorderTest, TrailingWhiteSpaceMovesToTheContinuation) {
  EXPECT_THAT(pieces("x the", " cd", plain), ElementsAre(" ", "cd"));
  EXPECT_THAT(pieces("x the ", "cd", plain), ElementsAre(" ", "cd"));
  EXPECT_THAT(pieces("x \n ", "the", plain), ElementsAre(" ", "\n", " the"));
  EXPECT_THAT(pieces("x\xE3\x80\x80", "y", plain).size(), 4U);  // ideographic space: three bytes, then y
}

TEST_F(ContinuationBorderTest, ATokenThatSpansTheBorderBelongsToTheContinuation) {
  EXPECT_THAT(pieces("x a", "b", plain), ElementsAre(" ab"));
  EXPECT_THAT(pieces("x a", "bc", plain), ElementsAre(" ab", "c"));
  EXPECT_THAT(pieces("x c", "d", plain), ElementsAre(" ", "cd"));  // the prompt alone ends in " c"
}

TEST_F(ContinuationBorderTest, AnEmptyPromptNeedsAFirstToken) {
  EXPECT_THAT(pieces("", "a", with_first), ElementsAre("a"));
  EXPECT_THAT(pieces(" ", "a", with_first), ElementsAre(" a"));
  EXPECT_THROW(ContinuationBorder("", plain, query::Framing::tokenizer).join("a"), base::InputError);
  EXPECT_THROW(ContinuationBorder("\t ", plain, query::Framing::tokenizer).join("a"), base::InputError);
  EXPECT_THROW(ContinuationBorder("a", plain, query::Framing::tokenizer).join("b"),
               base::InputError);  // "ab" swallows the whole prompt
  EXPECT_THAT(pieces("a", "b", with_first), ElementsAre("ab"));
}

TEST_F(ContinuationBorderTest, EveryFaultIsNamed) {
  const auto message = [&](const std::string& prompt, const std::string& continuation) {
    try {
      ContinuationBorder(prompt, plain, query::Framing::tokenizer).join(continuation);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("x", ""), ::testing::HasSubstr("has no token"));
  EXPECT_THAT(message("", ""), ::testing::HasSubstr("has no token"));
  EXPECT_THAT(message("x\xC3", "a"), ::testing::HasSubstr("invalid UTF-8 at byte 1 of the prompt"));
  EXPECT_THAT(message("x", "\xA9"), ::testing::HasSubstr("invalid UTF-8 at byte 0 of the continuation"));
  EXPECT_THAT(message("x", "a"), "no error");
  EXPECT_THAT(message("x ", ""), "no error");  // the space is the continuation
}

TEST(ContinuationBorder, WhiteSpaceIsPythons) {
  const auto is_space = [](char32_t value) {
    std::string text = "x";
    base::append_utf8(text, value);
    return size_without_trailing_space(text) == 1;
  };
  std::vector<char32_t> spaces;
  for (char32_t value = 1; value < 0x110000; ++value) {
    if ((value < 0xD800 || value > 0xDFFF) && is_space(value)) {
      spaces.push_back(value);
    }
  }
  // python3 -c 'print([hex(c) for c in range(0x110000) if chr(c).isspace()])'
  EXPECT_THAT(spaces, ElementsAre(0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000,
                                  0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
                                  0x2028, 0x2029, 0x202f, 0x205f, 0x3000));
  EXPECT_EQ(size_without_trailing_space(" \xC2\x85 "), 0U);
  EXPECT_EQ(size_without_trailing_space(""), 0U);
  EXPECT_EQ(size_without_trailing_space("\xA0"), 1U);  // no UTF-8
}

}  // namespace
}  // namespace stereosweep::engine
