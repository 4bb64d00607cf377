#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/coreference/Coreference.hpp"

namespace stereosweep::probes::coreference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> occupations = {"baker", "construction worker", "editor", "worker"};

CoreferenceSentence read(std::string_view line, SentenceType type = SentenceType::ambiguous) {
  base::Problems problems;
  CoreferenceSentence entry;
  entry.text = line;
  entry.type = type;
  const auto sentence = read_marked(entry, {"f", 3, ""}, occupations, problems);
  problems.raise_if_any("bad");
  return sentence.value();
}

std::string complaint(std::string_view line) {
  try {
    read(line);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

TEST(MarkedSentence, ReadsReferentOtherAndPronoun) {
  const auto sentence = read("The baker saw [the editor] because [she] sang.");
  EXPECT_EQ(sentence.text, "The baker saw the editor because she sang.");
  EXPECT_EQ(sentence.part(sentence.mentions[0].noun), "baker");
  EXPECT_EQ(sentence.part(sentence.mentions[0].article), "The");
  EXPECT_EQ(sentence.part(sentence.mentions[1].noun), "editor");
  EXPECT_EQ(sentence.bracketed, 1U);
  EXPECT_EQ(sentence.part(sentence.pronoun), "she");
  EXPECT_EQ(sentence.gender, Gender::female);
  EXPECT_THAT(sentence.notes, IsEmpty());
}

TEST(MarkedSentence, LongestOccupationWins) {
  const auto sentence = read("[The baker] met the construction worker before [his] lunch.");
  EXPECT_EQ(sentence.part(sentence.mentions[1].noun), "construction worker");
  EXPECT_EQ(sentence.pronoun_case, PronounCase::possessive);
  EXPECT_THAT(sentence.notes, IsEmpty());
}

TEST(MarkedSentence, BracesMarkAnUnlistedOccupation) {
  const auto sentence = read("{An astronomer} thanked [the baker] and paid [him].");
  EXPECT_EQ(sentence.part(sentence.mentions[0].article), "An");
  EXPECT_EQ(sentence.part(sentence.mentions[0].noun), "astronomer");
  EXPECT_EQ(sentence.pronoun_case, PronounCase::object);
}

TEST(MarkedSentence, EveryOddityHasItsNote) {
  EXPECT_THAT(read("[The baker] saw the editor as [she] lost [her] hat.").notes,
              ElementsAre(SentenceNote::further_pronoun));
  EXPECT_THAT(read("[The baker] saw the editor as [she] he ran.").notes, ElementsAre(SentenceNote::unmarked_pronoun));
  const auto three = read("[The baker] saw the editor as [she] is a good baker.");
  EXPECT_THAT(three.notes, ElementsAre(SentenceNote::three_mentions));
  EXPECT_EQ(three.part(three.mentions[1].noun), "editor");
  EXPECT_THAT(read("[The baker] ate more than the editor as [he] ran.", SentenceType::unambiguous).notes,
              ElementsAre(SentenceNote::first_referent));
  const auto outside = read("The editor fixed the [baker] 's car and [he] left.");
  EXPECT_EQ(outside.text, "The editor fixed the baker's car and he left.");
  EXPECT_EQ(outside.part(outside.mentions[1].article), "the");
  EXPECT_THAT(outside.notes, ElementsAre(SentenceNote::bracket_edge, SentenceNote::spacing));
  const auto blank = read("The editor asked the [ baker] and believed [him].");
  EXPECT_EQ(blank.text, "The editor asked the baker and believed him.");
  EXPECT_EQ(blank.part(blank.pronoun), "him");
  const auto doubled = read("The editor asked the [the baker] and believed [her].");
  EXPECT_EQ(doubled.text, "The editor asked the baker and believed her.");
  EXPECT_EQ(doubled.part(doubled.mentions[1].noun), "baker");
  EXPECT_EQ(doubled.part(doubled.pronoun), "her");
  EXPECT_THAT(doubled.notes, ElementsAre(SentenceNote::doubled_article));
  const auto inside = read("The editor asked [the the baker] and believed [her].");
  EXPECT_EQ(inside.text, "The editor asked the baker and believed her.");
  EXPECT_EQ(inside.part(inside.mentions[1].noun), "baker");
  EXPECT_EQ(inside.part(inside.pronoun), "her");
  EXPECT_THAT(inside.notes, ElementsAre(SentenceNote::doubled_article));
  const auto letter = read("The editor said \u00e7a [the baker] and believed [her].");
  EXPECT_EQ(letter.text, "The editor said \u00e7a the baker and believed her.") << "the end of a word is no article";
}

TEST(MarkedSentence, WhatIsNoSentenceIsRefusedWithItsPlace) {
  EXPECT_THAT(complaint("[The baker] saw the editor because she sang."), HasSubstr("f:3"));
  EXPECT_THAT(complaint("[The baker] saw the editor because she sang."), HasSubstr("no pronoun"));
  EXPECT_THAT(complaint("[The baker] saw [the editor] as [she] sang."), HasSubstr("2 occupations"));
  EXPECT_THAT(complaint("[The baker] sang as [she] sang."), HasSubstr("no second occupation"));
  EXPECT_THAT(complaint("[Bakers] saw the editor as [she] sang."), HasSubstr("no article"));
  EXPECT_THAT(complaint("[The baker saw the editor as [she] sang."), HasSubstr("inside brackets"));
  EXPECT_THAT(complaint("The baker] saw the editor as [she] sang."), HasSubstr("without its opening"));
  EXPECT_THAT(complaint("[The baker] saw the editor as [she sang."), HasSubstr("does not close"));
  EXPECT_THAT(complaint("[The baker] saw the editor as [she] sang"), HasSubstr("does not end"));
  EXPECT_THAT(complaint("[The baker] saw the editor as [they] sang."), HasSubstr("occupations"));
}

TEST(MarkedSentence, MarkedTextReadsBack) {
  for (const auto* line :
       {"The baker saw [the editor] because [she] sang.", "[A baker] met an editor at [his] house."}) {
    const auto sentence = read(line);
    const auto again = read(marked_text(sentence));
    EXPECT_EQ(again, sentence) << marked_text(sentence);
  }
}

TEST(MarkedSentence, HerIsToldApartByWhatFollows) {
  const auto possessive = [](std::string_view text) {
    const auto at = text.find("her");
    return is_possessive_her(text, {at, at + 3});
  };
  EXPECT_TRUE(possessive("and lost her hat."));
  EXPECT_TRUE(possessive("and praised her outstanding work."));
  EXPECT_FALSE(possessive("and thanked her."));
  EXPECT_FALSE(possessive("and told her that it rains."));
  EXPECT_FALSE(possessive("and thanked her, too."));
  EXPECT_FALSE(possessive("and gave her an apple."));
}

TEST(MarkedSentence, PairsAreEqualWithoutGender) {
  EXPECT_EQ(without_gender("He lost his hat and himself."), without_gender("She lost her hat and herself."));
  EXPECT_EQ(without_gender("They saw him."), without_gender("They saw her."));
  EXPECT_NE(without_gender("They saw him."), without_gender("They saw he."));
  EXPECT_EQ(without_gender("The theatre, hers."), "The theatre, #o.");
}

}  // namespace
}  // namespace stereosweep::probes::coreference
