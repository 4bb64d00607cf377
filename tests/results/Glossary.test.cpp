#include "results/measures/Glossary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stereosweep::results {
namespace {

using ::testing::HasSubstr;

TEST(Glossary, HasTheTermsOfTheFile) {
  const auto share = find_term("measure", "share");
  ASSERT_TRUE(share);
  EXPECT_EQ(share->title, "share");
  EXPECT_EQ(share->definition, "Probability of an occupation divided by the sum of both occupations' probabilities.");
  EXPECT_TRUE(find_term("status", "not_applicable"));
  EXPECT_FALSE(find_term("axis", "share"));
  EXPECT_FALSE(find_term("kind", "name"));
  EXPECT_FALSE(find_term("measure", ""));
}

TEST(Glossary, PutsLabelsInWords) {
  EXPECT_EQ(in_words("share"), "share");
  EXPECT_EQ(in_words("option_text"), "rating by the options' words");
  EXPECT_EQ(in_words("ilps_star prior_word"), "ILPS* (prior: generic word)");
  EXPECT_EQ(in_words("active_harm"), "active harm");
  EXPECT_EQ(in_words("no_such prior_word"), "no such prior word");
  EXPECT_EQ(in_words(""), "");
}

TEST(Glossary, DefinesEveryWordOfALabelOnce) {
  const auto text = definitions_text(
      std::vector<std::string>{"ilps_star prior_word", "ilps_star prior_mask", "no_such prior_word", "share"});
  EXPECT_EQ(text.find("ilps_star: "), 0U);
  EXPECT_EQ(text.find("ilps_star: ", 1), std::string::npos);
  EXPECT_EQ(text.find("prior_word: ", text.find("prior_word: ") + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\nprior_mask: "));
  EXPECT_THAT(text, HasSubstr("\nshare: "));
  EXPECT_EQ(text.find("no_such"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\nnat: "));  // the unit that the definitions name
  EXPECT_THAT(definitions_text(std::vector<std::string>{"share"}), ::testing::Not(HasSubstr("nat: ")));
  EXPECT_EQ(definitions_text(std::vector<std::string>{}), "");
}

TEST(Glossary, ExplainsTheTermsOfWhatIsSaid) {
  const std::vector<std::string> share = {"share"};
  const auto text = definitions_text(share, "higher for aug2 old than without markers: 0.2, adjusted 0.001");
  for (const auto* term : {"\naug2: ", "\nmarker: ", "\nadjusted: "}) {
    EXPECT_THAT(text, HasSubstr(term));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("aug1: ")));
  EXPECT_EQ(definitions_text(share, "aug23, readjusted"), definitions_text(share));
}

TEST(ShownMeasures, AreAllUnlessNamed) {
  EXPECT_TRUE(ShownMeasures().holds("anything"));
  const ShownMeasures one({"share"});
  EXPECT_TRUE(one.holds("share"));
  EXPECT_FALSE(one.holds("entropy"));
  const std::vector<std::string> with = {"entropy", "share"};
  const std::vector<std::string> without = {"entropy"};
  EXPECT_FALSE(one.or_all_of(with).holds("entropy"));
  EXPECT_TRUE(one.or_all_of(without).holds("entropy"));
}

}  // namespace
}  // namespace stereosweep::results
