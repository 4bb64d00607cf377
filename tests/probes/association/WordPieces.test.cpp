// Subwords in context: white space, starts of texts, joins, unknown tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"

namespace stereosweep::probes::association {
namespace {

class WordPiecesTest : public ::testing::Test {
 protected:
  std::vector<std::string> tokens(const tokenizer::Tokenizer& tokenizer, const WordPieces& pieces) {
    std::vector<std::string> result;
    for (const auto id : pieces.ids) {
      result.emplace_back(tokenizer.token_of(id).value_or("?"));
    }
    return result;
  }
  static auto between(const tokenizer::Tokenizer& tokenizer, const Surroundings& surroundings) {
    return
        [&tokenizer, surroundings](const std::string& word) { return locate(tokenizer, surroundings, {word}).front(); };
  }
  const tokenizer::Tokenizer word_piece_ = testing::word_piece();
  const tokenizer::Tokenizer byte_level_ = testing::byte_level();
};

using ::testing::ElementsAre;

TEST_F(WordPiecesTest, WordPieceSplitsInContext) {
  const auto locator = between(word_piece_, {"the women are ", "."});
  EXPECT_THAT(tokens(word_piece_, locator("warm")), ElementsAre("warm"));
  EXPECT_THAT(tokens(word_piece_, locator("powerless")), ElementsAre("power", "##less"));
  EXPECT_THAT(tokens(word_piece_, locator("self-kind")), ElementsAre("self", "-", "kind"));
  EXPECT_EQ(locator("powerful").status, CellStatus::ok);
  EXPECT_EQ(locator("zzz").status, CellStatus::unknown_token);
  EXPECT_EQ(locator(" ").status, CellStatus::no_tokens);
}

TEST_F(WordPiecesTest, GluedWordPieceJoins) {
  const auto apart = between(word_piece_, {"the women are un", "."});
  EXPECT_THAT(tokens(word_piece_, apart("kind")), ElementsAre("##kind")) << "'un ##kind' can be told apart";
  EXPECT_EQ(apart("kind").status, CellStatus::ok);
  const auto glued = between(word_piece_, {"the women are war", "."});
  EXPECT_EQ(glued("m").status, CellStatus::joins) << "'warm' is one token; 'war[MASK]' are more";
  const auto hyphen = between(word_piece_, {"the women are un-", "."});
  EXPECT_EQ(hyphen("kind").status, CellStatus::ok);
}

TEST_F(WordPiecesTest, ByteLevelWordsCarryTheirBlankAndMasksEatIt) {
  const auto inside = between(byte_level_, {"women are ", "."});
  const auto kind = inside("kind");
  EXPECT_EQ(kind.status, CellStatus::ok);
  EXPECT_THAT(tokens(byte_level_, kind), ElementsAre("\xC4\xA0kind"));
  const auto start = between(byte_level_, {"", " women."});
  EXPECT_THAT(tokens(byte_level_, start("kind")), ElementsAre("kind"));
  EXPECT_EQ(start("kind").status, CellStatus::ok);
}

TEST_F(WordPiecesTest, ByteLevelJoins) {
  const auto glued = between(byte_level_, {"women are s", "."});
  EXPECT_EQ(glued("kin").status, CellStatus::ok) << "no merge crosses s|kin: the pieces can be told apart";
  const auto merged = between(byte_level_, {"women are k", "."});
  EXPECT_EQ(merged("ind").status, CellStatus::joins);
  const auto two_blanks = between(byte_level_, {"women are  ", "."});
  EXPECT_EQ(two_blanks("kind").status, CellStatus::joins) << "the mask eats both blanks, the word only one";
}

TEST_F(WordPiecesTest, ABlankWithoutAMergeIsTheWordsFirstPiece) {
  const auto inside = between(byte_level_, {"women are ", "."});
  const auto capital = inside("Xind");
  EXPECT_EQ(capital.status, CellStatus::ok);
  EXPECT_EQ(tokens(byte_level_, capital).front(), "\xC4\xA0");
}

TEST_F(WordPiecesTest, AMaskedGroupBeforeTheWord) {
  const auto locator = between(byte_level_, {"<mask> are ", "."});
  EXPECT_THAT(tokens(byte_level_, locator("warm")), ElementsAre("\xC4\xA0warm"));
  const auto next_to_it = between(byte_level_, {"<mask> ", "."});
  EXPECT_THAT(tokens(byte_level_, next_to_it("warm")), ElementsAre("\xC4\xA0warm"));
}

TEST(Neighbourhood, KeepsWhatIsGluedAndOneCharacterBeyondWhiteSpace) {
  const auto near = [](std::string before, std::string after) {
    return neighbourhood({std::move(before), std::move(after)}, "[MASK]");
  };
  EXPECT_EQ(near("the women are ", ". So"), (Surroundings{"e ", ". "}));
  EXPECT_EQ(near("the women are un", "ly kind"), (Surroundings{" un", "ly "}));
  EXPECT_EQ(near("", ""), (Surroundings{"", ""}));
  EXPECT_EQ(near("  ", " x"), (Surroundings{"  ", " "}));
  EXPECT_EQ(near("un", "."), (Surroundings{"un", "."}));
  EXPECT_EQ(near("caf\xC3\xA9 ", "."), (Surroundings{"\xC3\xA9 ", "."}));
  EXPECT_EQ(near("are [MASK] ", "."), (Surroundings{"[MASK] ", "."}));
}

}  // namespace
}  // namespace stereosweep::probes::association
