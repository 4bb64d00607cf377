#include "probes/rating/OptionParser.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "support/Places.hpp"

namespace stereosweep::probes::rating {
namespace {

const std::vector<std::string> options = {"extremely", "very", "average", "slightly", "not at all"};

std::string described(const ParsedAnswer& answer) {
  return answer.status == AnswerStatus::ok ? std::string(1, static_cast<char>('A' + answer.option))
                                           : answer_status_names[static_cast<std::size_t>(answer.status)];
}

TEST(AnswerParser, reads_every_answer_of_the_table) {
  std::istringstream lines(base::read_file(source_directory() + "/tests/probes/rating/answers.tsv"));
  const AnswerParser parser(options);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    const auto tab = line.find('\t');
    if (line.starts_with('#')) {
      continue;
    }
    ASSERT_NE(tab, std::string::npos) << line;
    const auto text = base::parse_json(line.substr(tab + 1), "answer").get<std::string>();
    EXPECT_EQ(described(parser.parse(text)), line.substr(0, tab)) << line;
    ++count;
  }
  EXPECT_GE(count, 100);
}

TEST(AnswerParser, every_letter_and_text_names_its_option_in_any_list) {
  std::mt19937 random(3);
  std::vector<std::string> list = options;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::shuffle(list.begin(), list.end(), random);
    const AnswerParser parser(list);
    for (std::size_t option = 0; option < list.size(); ++option) {
      const std::string letter(1, static_cast<char>('A' + option));
      for (const auto& text : {letter, letter + ".", "(" + letter + ")", letter + ". " + list[option], list[option],
                               "Answer: " + letter, "  " + list[option] + "\n\nand more"}) {
        EXPECT_EQ(described(parser.parse(text)), letter) << text;
      }
      for (std::size_t other = 0; other < list.size(); ++other) {
        const std::string both = letter + ". " + list[other];
        EXPECT_EQ(described(parser.parse(both)), other == option ? letter : "several_answers") << both;
      }
    }
  }
}

TEST(AnswerParser, answers_any_bytes_the_same_way_twice) {
  std::mt19937 random(4);
  const std::string pieces[] = {"A",    "B",    "e",       " ",         ".",        "(",    ")",
                                "not ", "very", "at all",  "\n",        "\xc3\xa9", "\xff", std::string(1, '\0'),
                                "'",    "n't ", "average", "I cannot ", "**"};
  const AnswerParser parser(options);
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    std::string text;
    for (auto i = random() % 12; i > 0; --i) {
      text += pieces[random() % std::size(pieces)];
    }
    const auto once = parser.parse(text);
    ASSERT_LT(once.option, options.size());
    ASSERT_LT(static_cast<std::size_t>(once.status), answer_status_names.size());
    ASSERT_EQ(described(parser.parse(text)), described(once));
    ASSERT_EQ(described(parser.parse("  " + text + "\n")), described(once)) << "white space around it says nothing";
  }
}

TEST(AnswerParser, a_scale_has_letters_of_its_own_only) {
  const AnswerParser two({"yes", "no"});
  EXPECT_EQ(described(two.parse("B")), "B");
  EXPECT_EQ(described(two.parse("C")), "no_answer");
  EXPECT_EQ(described(two.parse("No.")), "B");
  EXPECT_EQ(described(two.parse("no, yes")), "several_answers");
}

TEST(AnswerParser, the_pronoun_is_no_letter_of_a_long_scale) {
  const AnswerParser ten({"ten", "nine", "eight", "seven", "six", "five", "four", "three", "two", "one"});
  EXPECT_EQ(described(ten.parse("I think they are.")), "no_answer");
  EXPECT_EQ(described(ten.parse("I would say C.")), "C");
  EXPECT_EQ(described(ten.parse("Here I choose (I).")), "I");
  for (const auto* text : {"I", "I.", "I. two", "I two", "Answer: I", "(I) two"}) {
    EXPECT_EQ(described(ten.parse(text)), "I") << text;
  }
}

}  // namespace
}  // namespace stereosweep::probes::rating
