#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "answers/AnswerJson.hpp"
#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "support/Places.hpp"
#include "support/ProcessorTime.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

struct AnswerCase {
  std::string question;
  Json expected;
};

std::vector<AnswerCase> read_cases(const std::string& name) {
  std::istringstream lines(base::read_file(source_directory() + "/tests/answers/" + name + ".jsonl"));
  std::vector<AnswerCase> cases;
  for (std::string line; std::getline(lines, line);) {
    const auto row = base::parse_json(line, name);
    cases.push_back({row.at("ask").dump(), row.at("answer")});
  }
  return cases;
}

/// The share of a file's answers that are parsed as expected, of each kind; prints them with those that are not.
std::map<std::string, double> accuracies(const std::string& name) {
  std::map<std::string, std::pair<int, int>> counts;  // good, all
  for (const auto& one : read_cases(name)) {
    auto& [good, all] = counts[base::parse_json(one.question, name).at("kind")];
    const auto found = base::parse_json(parse_line(one.question), name);
    ++all;
    if (found == one.expected) {
      ++good;
    } else {
      std::cout << name << ": " << one.question << " -> " << found.dump() << ", expected " << one.expected.dump()
                << '\n';
    }
  }
  std::map<std::string, double> shares;
  for (const auto& [kind, count] : counts) {
    std::cout << name << ", " << kind << ": " << count.first << " of " << count.second << '\n';
    shares[kind] = static_cast<double>(count.first) / count.second;
  }
  return shares;
}

const std::vector<std::string> answer_sets = {
    "ratings",      "ratings_later",      "rating_lists",      "keywords",    "reasons",
    "chat",         "chat_later",         "chat_hard",         "chat_last",   "chat_more",
    "chat_evasive", "chat_evasive_later", "chat_evasive_last", "chat_models", "chat_models_later",
    "chat_fresh",   "chat_wandering",     "chat_hedged",       "letters"};

TEST(Answers, AnswerSetsAreRead) {
  const std::map<std::string, double> least = {
      {"rating", 0.99}, {"ratings", 0.99}, {"keywords", 0.97}, {"reasons", 0.97}};
  for (const auto& name : answer_sets) {
    for (const auto& [kind, share] : accuracies(name)) {
      EXPECT_GE(share, least.at(kind)) << name << ", " << kind;
    }
  }
}

TEST(Answers, NoRefusalIsTakenForAnAnswer) {
  std::size_t count = 0;
  for (const auto& name : answer_sets) {
    for (const auto& one : read_cases(name)) {
      if (one.expected.contains("status") && one.expected.at("status") == "refused") {
        const auto found = base::parse_json(parse_line(one.question), name);
        EXPECT_FALSE(found.contains("value")) << one.question;
        EXPECT_TRUE(!found.contains("keywords") || found.at("keywords").empty()) << one.question;
        ++count;
      }
    }
  }
  EXPECT_GE(count, 60U);
}

/// The labelled answers beside the repository: `expect` lists readings, statuses and texts that are right.
bool is_as_labelled(const Json& found, const Json& expected) {
  if (expected.is_array() && !expected.empty() && expected.front().is_string() && found.is_string()) {
    return std::ranges::find(expected, found) != expected.end();  // one of several statuses
  }
  if (expected.is_object() && expected.contains("has")) {
    return found.is_string() &&
           found.get<std::string>().find(expected.at("has").get<std::string>()) != std::string::npos;
  }
  if (!found.is_structured() || expected.size() != found.size()) {
    return found == expected;
  }
  bool is_same = true;
  for (auto one = expected.begin(), other = found.begin(); one != expected.end(); ++one, ++other) {
    is_same = is_same && is_as_labelled(*other, *one);
  }
  return is_same;
}

TEST(Answers, LabelledAnswersOfModelsAreRead) {
  const auto path = source_directory() + "/shared/data/answers/given.jsonl";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "there is no " << path;
  }
  std::istringstream lines(base::read_file(path));
  std::map<std::string, std::pair<int, int>> counts;  // good, all
  for (std::string line; std::getline(lines, line);) {
    auto ask = base::parse_json(line, path);
    auto expected = ask.at("expect");
    ask.erase("expect");
    std::vector<Json> readings =
        expected.contains("also") ? expected.at("also").get<std::vector<Json>>() : std::vector<Json>{};
    for (const char* key : {"also", "id", "source"}) {
      expected.erase(key);
    }
    readings.push_back(expected);
    const auto found = base::parse_json(parse_line(ask.dump()), path);
    const bool is_good = std::ranges::any_of(readings, [&](const Json& one) { return is_as_labelled(found, one); });
    auto& [good, all] = counts[ask.at("kind")];
    good += is_good ? 1 : 0;
    ++all;
  }
  for (const auto& [kind, least] :
       std::map<std::string, double>{{"rating", 0.98}, {"ratings", 0.98}, {"keywords", 0.95}, {"reasons", 0.9}}) {
    EXPECT_GE(counts[kind].first, least * counts[kind].second) << kind;
    EXPECT_GT(counts[kind].second, 0) << kind;
  }
}

Rating of_options(std::string_view text, const std::vector<std::string>& options) {
  return parse_rating(text, {.options = options});
}

TEST(Answers, EveryLetterAndTextNamesItsOptionInAnyList) {
  std::mt19937 random(3);
  std::vector<std::string> list = {"extremely", "very", "average", "slightly", "not at all"};
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::shuffle(list.begin(), list.end(), random);
    for (std::size_t option = 0; option < list.size(); ++option) {
      const std::string letter(1, static_cast<char>('A' + option));
      for (const auto& text : {letter, letter + ".", "(" + letter + ")", letter + ". " + list[option], list[option],
                               "Answer: " + letter, letter + ", as many would say", "I would pick " + letter}) {
        EXPECT_EQ(of_options(text, list).value, static_cast<double>(option)) << text;
      }
      for (std::size_t other = 0; other < list.size(); ++other) {
        const std::string both = letter + ". " + list[other];
        EXPECT_EQ(of_options(both, list).status, other == option ? Status::answered : Status::contradictory) << both;
        const std::string explained = letter + ". Some would find " + list[other] + " too much.";
        EXPECT_EQ(of_options(explained, list).value, static_cast<double>(option)) << explained;
      }
    }
  }
}

TEST(Answers, AScaleHasLettersOfItsOwnOnly) {
  const std::vector<std::string> two = {"yes", "no"};
  EXPECT_EQ(of_options("B", two).value, 1);
  EXPECT_EQ(of_options("C", two).status, Status::unparsed);
  EXPECT_EQ(of_options("No.", two).value, 1);
  const std::vector<std::string> ten = {"ten", "nine", "eight", "seven", "six", "five", "four", "three", "two", "one"};
  EXPECT_EQ(of_options("I think they are.", ten).status, Status::unparsed) << "a pronoun";
  EXPECT_EQ(of_options("I would say C.", ten).value, 2);
  for (const auto* text : {"I", "I.", "I. two", "I two", "Answer: I", "(I) two", "Here I choose (I)."}) {
    EXPECT_EQ(of_options(text, ten).value, 8) << text;
  }
}

TEST(Answers, OfItemNamesThatOverlapInATextTheLongerOneIsMeant) {
  const Scale scale{.low = 1, .high = 5};
  for (const auto& [text, items] : std::map<std::string, std::vector<std::string>>{
           {"Warm-heartedness: 4", {"warm", "warm-hearted"}}, {"Good natured: 4", {"good", "good nature"}}}) {
    const auto ratings = parse_ratings(text, items, scale, End::finished);
    EXPECT_EQ(ratings[0].status, Status::missing) << text;
    EXPECT_EQ(ratings[1].status, Status::answered) << text;
    EXPECT_EQ(ratings[1].value, 4) << text;
  }
}

TEST(Answers, TextsOfTheWordsOfAnyNamesAreRead) {
  std::mt19937 random(5);
  const std::string words[] = {"warm", "hearted", "good", "nature", "high", "status", "self", "assured", "3", "st"};
  const std::string ends[] = {"", "", "", "ness", "d", "ly", "s", "edness"};
  const std::string joints[] = {" ", "-", " ", ", ", " and ", "/", " (", ". ", ": ", "\n", "\n- ", "; ", " & ", "? "};
  const std::string behind[] = {": 4", ": 3/5", " 5", " (2)", "\n", ": because they help.", ": I won't", " actually 4"};
  const auto one_of = [&](const auto& list) { return list[random() % std::size(list)]; };
  std::size_t num_answered = 0;
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    std::vector<std::string> names(1 + random() % 4);
    std::string text;
    for (auto& name : names) {
      name = one_of(words) + (random() % 2 == 0 ? one_of(joints).substr(0, 1) + one_of(words) : "");
      text +=
          one_of(joints) + (random() % 2 == 0 ? name : one_of(words) + one_of(ends) + one_of(joints) + one_of(words));
      text += one_of(ends) + one_of(behind);
    }
    ASSERT_NO_THROW({
      const auto ratings = parse_ratings(text, names, {.low = 1, .high = 5}, End::finished);
      num_answered += ratings.front().status == Status::answered ? 1 : 0;
      ASSERT_EQ(parse_reasons(text, names, End::finished).size(), names.size());
    }) << text
       << " of " << base::join(names, " | ");
  }
  EXPECT_GT(num_answered, 2000U);
}

TEST(Answers, AnyBytesGiveAnOptionOfTheScaleOrNone) {
  std::mt19937 random(4);
  const std::string pieces[] = {"A",    "B",    "e",       " ",         ".",        "(",    ")",
                                "not ", "very", "at all",  "\n",        "\xc3\xa9", "\xff", std::string(1, '\0'),
                                "'",    "n't ", "average", "I cannot ", "**"};
  const std::vector<std::string> options = {"extremely", "very", "average", "slightly", "not at all"};
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    std::string text;
    for (auto i = random() % 12; i > 0; --i) {
      text += pieces[random() % std::size(pieces)];
    }
    const auto once = of_options(text, options);
    const auto framed = of_options("  " + text + "\n", options);
    ASSERT_EQ(framed.status, once.status) << "white space around it says nothing";
    if (once.status == Status::answered) {
      ASSERT_EQ(framed.value, once.value);
      ASSERT_TRUE(once.value >= 0 && once.value < 5) << text;
    }
  }
}

TEST(Answers, WhiteSpaceAroundAnAnswerChangesNothing) {
  for (const auto& one : read_cases("ratings")) {
    auto question = base::parse_json(one.question, "question");
    question["text"] = "\n \t" + question["text"].get<std::string>() + "  \r\n\n";
    EXPECT_EQ(parse_line(question.dump()), parse_line(one.question)) << one.question;
  }
}

TEST(Answers, ACutTextIsTruncatedOnlyWhereItHoldsNoAnswer) {
  EXPECT_EQ(parse_rating("This group is", {}, End::cut_off).status, Status::truncated);
  EXPECT_EQ(parse_rating("This group is", {}).status, Status::unparsed);
  EXPECT_EQ(parse_rating("Rating: 4. This group is", {}, End::cut_off).value, 4);
  EXPECT_EQ(parse_keywords("1. warm\n2. kind\n3. hon", 5, End::cut_off).words,
            (std::vector<std::string>{"warm", "kind"}));
  const std::vector<std::string> items = {"friendly", "honest"};
  const auto ratings = parse_ratings("Friendly: 4\nHon", items, {}, End::cut_off);
  EXPECT_EQ(ratings[0].value, 4);
  EXPECT_EQ(ratings[1].status, Status::truncated);
}

TEST(Answers, LongAnswersAreReadInTimeThatGrowsWithTheirLength) {
  const std::vector<std::string> items = {"friendly", "honest"};
  constexpr double limit = 5;  // seconds; each takes about 0.1, and minutes where the time grows with the square
  for (const std::string part :
       {"4 ", "friendly: ", "* ", "<think>", "1 to ", "( ", "| ", "friendly 4, ", "- warm\n", "\x01\x7f", "actually ",
        "[", "\"", "{\"a\":", "i cannot ", "i refuse and ", "not ", "[x] 4, maybe "}) {
    std::string text;
    while (text.size() < 300'000) {
      text += part;
    }
    const ProcessorTime spent;
    parse_rating(text, {});
    parse_rating(text, {.options = {"not at all", "very"}});
    EXPECT_EQ(parse_ratings(text, items, {}).size(), 2U);
    EXPECT_LE(parse_keywords(text, 10).words.size(), 10U);
    EXPECT_EQ(parse_reasons(text, items).size(), 2U);
    EXPECT_TRUE(parse_reasons(text, {}).empty());
    EXPECT_LT(spent.seconds(), limit) << part;
  }
}

TEST(Answers, BadLinesAreRefusedWithTheField) {
  for (const auto& [line, word] : std::vector<std::pair<std::string, std::string>>{
           {"", "line"},
           {"[]", "line: is a list (an object"},
           {R"({"kind":"ratng","text":""})", "rating"},
           {R"({"kind":"rating","low":1,"high":5})", "text"},
           {R"({"kind":"rating","text":"4","low":5,"high":1})", "low"},
           {R"({"kind":"rating","text":"4"})", "low"},
           {R"({"kind":"rating","text":"4","low":1,"high":5,"options":["a"]})", "options"},
           {R"({"kind":"rating","text":"4","options":[]})", "options"},
           {R"({"kind":"ratings","text":"4","low":1,"high":5})", "items"},
           {R"({"kind":"keywords","text":"a","most":0})", "most"},
           {R"({"kind":"keywords","text":"a","mst":3})", "most"},
           {R"({"kind":"rating","text":4,"low":1,"high":5})", "text"},
           {R"({"kind":"rating","text":"4","low":1,"high":5,"finished":1})", "finished"}}) {
    try {
      parse_line(line);
      FAIL() << line;
    } catch (const base::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << line << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace stereosweep::answers
