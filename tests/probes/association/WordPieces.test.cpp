// Subwords in context: white space, starts of texts, joins, unknown tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/TinyTokenizers.hpp"
#include "probes/association/AssociationProbe.hpp"

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
  const tokenizer::Tokenizer word_piece_ = testing::word_piece();
  const tokenizer::Tokenizer byte_level_ = testing::byte_level();
};

using ::testing::ElementsAre;

TEST_F(WordPiecesTest, WordPieceSplitsInContext) {
  const WordLocator locator(word_piece_, {"the women are ", "."});
  EXPECT_THAT(tokens(word_piece_, locator.locate("warm")), ElementsAre("warm"));
  EXPECT_THAT(tokens(word_piece_, locator.locate("powerless")), ElementsAre("power", "##less"));
  EXPECT_THAT(tokens(word_piece_, locator.locate("self-kind")), ElementsAre("self", "-", "kind"));
  EXPECT_EQ(locator.locate("powerful").status, CellStatus::ok);
  EXPECT_EQ(locator.locate("zzz").status, CellStatus::unknown_token);
  EXPECT_EQ(locator.locate(" ").status, CellStatus::no_tokens);
}

TEST_F(WordPiecesTest, GluedWordPieceJoins) {
  const WordLocator apart(word_piece_, {"the women are un", "."});
  EXPECT_THAT(tokens(word_piece_, apart.locate("kind")), ElementsAre("##kind")) << "'un ##kind' can be told apart";
  EXPECT_EQ(apart.locate("kind").status, CellStatus::ok);
  const WordLocator glued(word_piece_, {"the women are war", "."});
  EXPECT_EQ(glued.locate("m").status, CellStatus::joins) << "'warm' is one token; 'war[MASK]' are more";
  const WordLocator hyphen(word_piece_, {"the women are un-", "."});
  EXPECT_EQ(hyphen.locate("kind").status, CellStatus::ok);
}

TEST_F(WordPiecesTest, ByteLevelWordsCarryTheirBlankAndMasksEatIt) {
  const WordLocator inside(byte_level_, {"women are ", "."});
  const auto kind = inside.locate("kind");
  EXPECT_EQ(kind.status, CellStatus::ok);
  EXPECT_THAT(tokens(byte_level_, kind), ElementsAre("\xC4\xA0kind"));
  const WordLocator start(byte_level_, {"", " women."});
  EXPECT_THAT(tokens(byte_level_, start.locate("kind")), ElementsAre("kind"));
  EXPECT_EQ(start.locate("kind").status, CellStatus::ok);
}

TEST_F(WordPiecesTest, ByteLevelJoins) {
  const WordLocator glued(byte_level_, {"women are s", "."});
  EXPECT_EQ(glued.locate("kin").status, CellStatus::ok) << "no merge crosses s|kin: the pieces can be told apart";
  const WordLocator merged(byte_level_, {"women are k", "."});
  EXPECT_EQ(merged.locate("ind").status, CellStatus::joins);
  const WordLocator two_blanks(byte_level_, {"women are  ", "."});
  EXPECT_EQ(two_blanks.locate("kind").status, CellStatus::joins) << "the mask eats both blanks, the word only one";
}

TEST_F(WordPiecesTest, ABlankWithoutAMergeIsTheWordsFirstPiece) {
  const WordLocator inside(byte_level_, {"women are ", "."});
  const auto capital = inside.locate("Xind");
  EXPECT_EQ(capital.status, CellStatus::ok);
  EXPECT_EQ(tokens(byte_level_, capital).front(), "\xC4\xA0");
}

TEST_F(WordPiecesTest, AMaskedGroupBeforeTheWord) {
  const WordLocator locator(byte_level_, {"<mask> are ", "."});
  EXPECT_THAT(tokens(byte_level_, locator.locate("warm")), ElementsAre("\xC4\xA0warm"));
  const WordLocator next_to_it(byte_level_, {"<mask> ", "."});
  EXPECT_THAT(tokens(byte_level_, next_to_it.locate("warm")), ElementsAre("\xC4\xA0warm"));
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
