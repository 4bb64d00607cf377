#include "corpus/JsonField.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::corpus {
namespace {

JsonLine status_of(std::string_view line) { return JsonField("text").find(line); }

TEST(JsonField, FindsAStringOfTheOutermostObject) {
  JsonField field("text");
  ASSERT_EQ(field.find(R"( {"a": [1, {"text": "x"}], "text" : "a\u00e9\ud83d\ude42\"\\\/\b\f\n\r\t" } )"),
            JsonLine::found);
  EXPECT_EQ(field.value(), "aé🙂\"\\/\b\f\n\r\t");
  ASSERT_EQ(field.find(R"({"te\u0078t":""})"), JsonLine::found);
  EXPECT_EQ(field.value(), "");
  EXPECT_EQ(status_of(R"({"text": 1})"), JsonLine::no_field);
  EXPECT_EQ(status_of(R"({"Text": "x"})"), JsonLine::no_field);
  EXPECT_EQ(status_of(R"([{"text": "x"}])"), JsonLine::no_field);
  EXPECT_EQ(status_of("{}"), JsonLine::no_field);
}

TEST(JsonField, RefusesWhatIsNoJson) {
  for (const auto* line : {R"({"text": "x")",
                           R"({"text": "x"} x)",
                           R"({"text": "x",})",
                           R"({"text" "x"})",
                           R"({text: "x"})",
                           R"({"text": "x)",
                           R"({"text": "\x"})",
                           R"({"text": "\ud83d"})",
                           R"({"text": "\ude42\ud83d"})",
                           R"({"text": "\u12g4"})",
                           "{\"text\": \"a\tb\"}",
                           R"({"text": "x", "text": "y"})",
                           R"({"text": "x", "text": 1})",
                           R"({"n": 01, "text": "x"})",
                           R"({"n": 1., "text": "x"})",
                           R"({"n": -, "text": "x"})",
                           R"({"n": 1e, "text": "x"})",
                           R"({"n": nul, "text": "x"})",
                           R"({"n": NaN, "text": "x"})",
                           "[1,]",
                           "",
                           "x",
                           "\"",
                           "{",
                           "{\"",
                           "{\"text\":",
                           "{\"text\":\"\\"}) {
    EXPECT_EQ(status_of(line), JsonLine::broken) << line;
  }
  EXPECT_EQ(status_of(std::string(100000, '[')), JsonLine::broken);
  EXPECT_EQ(status_of("{\"text\":" + std::string(100000, '{')), JsonLine::broken);
}

// Random lines and random changes of them, against the strict reader that builds the document.
std::string random_value(std::mt19937_64& random, int depth) {
  static const std::vector<std::string> scalars = {"1",         "-0.5e+3", "0",           "true",
                                                   "false",     "null",    "\"\"",        "\"é\"",
                                                   "\"a b c\"", "\"\\n\"", "\"\\u00e9\"", "\"0123456789abcdef0123\"",
                                                   "1E5",       "-12.25"};
  const auto kind = random() % (depth > 3 ? 1 : 3);
  if (kind == 0) {
    return scalars[random() % scalars.size()];
  }
  std::string text = kind == 1 ? "[" : "{";
  const auto count = random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    text += i > 0 ? ", " : "";
    text += kind == 1 ? "" : "\"k" + std::to_string(i) + "\": ";
    text += random_value(random, depth + 1);
  }
  return text + (kind == 1 ? "]" : "}");
}

TEST(JsonField, AgreesWithTheStrictReader) {
  std::mt19937_64 random(9);
  int found = 0;
  int broken = 0;
  for (int i = 0; i < 40000; ++i) {
    std::string line = "{\"id\": " + random_value(random, 0) + ", \"text\": " + random_value(random, 2) + "}";
    for (auto changes = random() % 3; changes > 0; --changes) {
      const auto at = random() % line.size();
      const char other = "{}[]\",:\\ 01e-+.tn"[random() % 17];
      switch (random() % 3) {
        case 0:
          line[at] = other;
          break;
        case 1:
          line.insert(at, 1, other);
          break;
        default:
          line.erase(at, 1);
      }
    }
    if (base::find_invalid_utf8(line)) {
      continue;
    }
    JsonField field("text");
    const auto status = field.find(line);
    try {
      const auto document = base::parse_json(line, "line", {.max_depth = 64});
      const bool has = document.is_object() && document.contains("text") && document["text"].is_string();
      ASSERT_EQ(status, has ? JsonLine::found : JsonLine::no_field) << line;
      if (has) {
        ++found;
        ASSERT_EQ(field.value(), document["text"].get<std::string>()) << line;
      }
    } catch (const base::InputError& error) {
      const std::string why = error.what();
      // it also refuses other keys that appear twice, numbers beyond a double, and half surrogate pairs anywhere
      const bool stricter = why.find("twice") != std::string::npos || why.find("out_of_range") != std::string::npos ||
                            why.find("surrogate") != std::string::npos;
      ++broken;
      if (!stricter) {
        ASSERT_EQ(status, JsonLine::broken) << line << "\n" << why;
      }
    }
  }
  EXPECT_GT(found, 2000);
  EXPECT_GT(broken, 3000);
}

}  // namespace
}  // namespace stereosweep::corpus
