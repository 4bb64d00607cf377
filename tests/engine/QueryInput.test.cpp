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

}  // namespace
}  // namespace stereosweep::engine
