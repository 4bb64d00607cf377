#include "base/text/Json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/Error.hpp"

namespace stereosweep::base {
namespace {

TEST(Json, ReadsAndKeepsTheOrderOfKeys) {
  const auto json = parse_json(R"({"b": [1, 2.5, "é"], "a": null})", "x.json");
  EXPECT_EQ(json.begin().key(), "b");
  EXPECT_EQ(json["b"][2], "é");
}

TEST(Json, RefusesWhatLooserReadersLetPass) {
  for (const std::string text :
       {R"({"a":1,"a":2})", R"({"o":{"k":1,"k":1}})", "{} x", "", "[1,]", "nul", "[1e999]", "\"\xff\"", "{'a':1}"}) {
    EXPECT_THROW(parse_json(text, "x.json"), InputError) << text;
  }
}

TEST(Json, EqualKeysInSiblingsAreFine) { EXPECT_NO_THROW(parse_json(R"([{"a":1},{"a":2}])", "x.json")); }

TEST(Json, DeepNestingEndsAtTheLimitNotInTheStack) {
  EXPECT_THROW(parse_json(std::string(1000000, '['), "x.json"), InputError);
  EXPECT_NO_THROW(parse_json(std::string(32, '[') + std::string(32, ']'), "x.json"));
  EXPECT_THROW(parse_json(std::string(33, '[') + std::string(33, ']'), "x.json"), InputError);
}

TEST(Json, MessageDoesNotQuoteAMegabyte) {
  try {
    parse_json("{\"" + std::string(1000000, 'a') + "\" 1}", "x.json");
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_LT(std::string(error.what()).size(), 5000u);
  }
}

TEST(Json, MessageNamesTheFile) {
  try {
    parse_json("{", "config.json");
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("config.json: "), 0u);
  }
}

}  // namespace
}  // namespace stereosweep::base
