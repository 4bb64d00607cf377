#include "sweep/Wording.hpp"

#include <gtest/gtest.h>

namespace stereosweep::sweep {
namespace {

TEST(Wording, article_follows_the_sound_of_common_words) {
  for (const auto* word :
       {"elderly person", "Asian person", "immigrant", "unemployed person", "Amish person", "Irish person",
        "autistic person", "heir", "hour", "honest man", "atheist", "uninsured person", "umpire", "LGBT person",
        "HIV-positive person", "utter beginner", "urban person"}) {
    EXPECT_EQ(indefinite_article(word), "an") << word;
  }
  for (const auto* word : {"woman",         "university student",
                           "union worker",  "European",
                           "user",          "one-eyed man",
                           "Black person",  "Hispanic person",
                           "teenager",      "",
                           "3-year-old",    "US citizen",
                           "Ukrainian",     "Ugandan",
                           "Uyghur person", "Uruguayan",
                           "Utah native",   "çelebi",
                           "ñandú",         "Żyd",
                           "Ýdalir",        "женщина"}) {
    EXPECT_EQ(indefinite_article(word), "a") << word;
  }
}

TEST(Wording, marked_vowels_take_an) {
  for (const auto* word : {"émigré", "Ångström unit", "Übermensch", "übermensch", "élite", "æsthete", "Œuvre", "Émile",
                           "Āriki", "Ēster", "ītalian", "ōkami", "Ůnor", "ĳ"}) {
    EXPECT_EQ(indefinite_article(word), "an") << word;
  }
}

TEST(Wording, capitals_reach_beyond_ascii_and_leave_the_rest) {
  EXPECT_EQ(capitalise("women"), "Women");
  EXPECT_EQ(capitalise("\xC3\xA9migr\xC3\xA9s"), "\xC3\x89migr\xC3\xA9s");
  EXPECT_EQ(capitalise("\xD0\xB6\xD0\xB5\xD0\xBD\xD1\x89\xD0\xB8\xD0\xBD\xD1\x8B").substr(0, 2), "\xD0\x96");
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"łódź", "Łódź"}, {"češi", "Češi"}, {"žena", "Žena"}, {"őr", "Őr"}, {"ÿ", "Ÿ"}, {"ńa", "Ńa"},
      {"đ", "Đ"},       {"ŋ", "Ŋ"},       {"ẹ", "Ẹ"},       {"ỹ", "Ỹ"},   {"ḿ", "Ḿ"}, {"άνδρας", "Άνδρας"},
      {"ώ", "Ώ"},       {"ж", "Ж"},       {"ђ", "Ђ"},       {"ß", "ß"},   {"ı", "I"}, {"șofer", "Șofer"},
      {"ư", "Ư"},       {"ŉ", "ŉ"},       {"ĸ", "ĸ"},       {"Ž", "Ž"},   {"Ć", "Ć"}, {"Ĺ", "Ĺ"},
      {"ẖ", "ẖ"},       {"中", "中"},     {"ґ", "Ґ"},       {"қ", "Қ"},   {"ә", "Ә"}, {"ա", "Ա"},
      {"ǆ", "ǅ"},       {"ა", "ა"}};
  for (const auto& [word, expected] : pairs) {
    EXPECT_EQ(capitalise(word), expected);
  }
  EXPECT_EQ(capitalise("Women"), "Women");
  EXPECT_EQ(capitalise("\"x\""), "\"x\"");
  EXPECT_EQ(capitalise("3"), "3");
  EXPECT_EQ(capitalise(""), "");
  EXPECT_EQ(capitalise("\xFF"), "\xFF");
}

TEST(Wording, sentences_open_at_the_start_after_stops_and_in_quotes) {
  for (const auto* text : {"", "\"", "(", "He left. ", "Really? ", "No! ", "He said: \"", "\xE2\x80\x9C",
                           "He said \"no.\" ", "One. (", "I saw 'it'. \""}) {
    EXPECT_TRUE(opens_sentence(text)) << text;
  }
  for (const auto* text : {"People say that ", "He said: ", "well, ", "3.", "x", "don'"}) {
    EXPECT_FALSE(opens_sentence(text)) << text;
  }
}

TEST(Wording, only_function_words_are_lowered) {
  EXPECT_EQ(lower_function_word("Most {group} are"), "most {group} are");
  EXPECT_EQ(lower_function_word("The {group}"), "the {group}");
  EXPECT_EQ(lower_function_word("I know that"), "I know that");
  EXPECT_EQ(lower_function_word("Black people"), "Black people");
  EXPECT_EQ(lower_function_word("Theo is"), "Theo is");
  EXPECT_EQ(lower_function_word("{group} are"), "{group} are");
  EXPECT_EQ(lower_function_word(""), "");
}

}  // namespace
}  // namespace stereosweep::sweep
