#include <gtest/gtest.h>

#include <string>

#include "answers/Rating.hpp"
#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {
namespace {

TEST(AnswerLanguage, IsKnownByItsFrequentWords) {
  for (const std::string text : {"Most people would say 4.", "4", "Rating: 4", "Nurses: 4", "Warm 3, kind 2",
                                 "Based on common stereotypes: 5", "a 4 is what I'd give"}) {
    EXPECT_EQ(language_of(TokenizedText(text).tokens()), Language::english) << text;
  }
  for (const std::string text :
       {"Ich w\u00FCrde sagen: 4", "Je dirais 4 sur 5", "Ik zou ze een 4 geven", "Eu diria que 3 a 4",
        "\u042F \u0431\u044B \u043F\u043E\u0441\u0442\u0430\u0432\u0438\u043B 4",
        "Luultavasti melko ahkeria, ehk\u00E4 4 tai jotain"}) {
    EXPECT_EQ(language_of(TokenizedText(text).tokens()), Language::unknown) << text;
  }
}

TEST(AnswerLanguage, OfALongTextIsKnownByEveryThirdWord) {
  const std::string known = "the and of ";
  const std::string other = "brick lamp stone river cloud wheel ";
  std::string few;
  std::string many;
  for (int repeat = 0; repeat < 6; ++repeat) {
    few += other + other + known;
    many += other + known;
  }
  EXPECT_EQ(language_of(TokenizedText(few).tokens()), Language::unknown);
  EXPECT_EQ(language_of(TokenizedText(many).tokens()), Language::english);
}

TEST(AnswerLanguage, OfAnUnknownOneOnlyWhatStandsByItselfIsRead) {
  EXPECT_EQ(parse_rating("J'habite ici depuis 4 ans avec les enfants.", {}).status, Status::unparsed);
  EXPECT_EQ(parse_rating("Von 1 bis 5 ist alles m\u00F6glich.", {}).status, Status::unparsed);
  EXPECT_EQ(parse_rating("Ich gebe ihnen 3 bis 4.", {}).status, Status::unparsed);
  EXPECT_EQ(parse_rating("Ik geef ze een cijfer: 4 van 5", {}).value, 4);
  EXPECT_EQ(parse_rating("Nota: 2\n\nPorque as pessoas dizem isso.", {}).value, 2);
}

}  // namespace
}  // namespace stereosweep::answers
