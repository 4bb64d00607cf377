#include "base/text/Json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

namespace {

std::string fault_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonFields, ReadsWhatIsAskedForAndRefusesTheRest) {
  const auto object = parse_json(R"({"text": "a", "count": 3, "share": 0.5, "names": ["b"], "on": true})", "test");
  JsonFields fields(object, "the test");
  EXPECT_EQ(json_text(fields.need("text"), "text"), "a");
  EXPECT_EQ(json_integer<int>(fields.need("count"), "count"), 3);
  double share = 0;
  fields.take("share", share, json_number);
  EXPECT_EQ(share, 0.5);
  bool is_on = false;
  fields.take("on", is_on, json_boolean);
  EXPECT_TRUE(is_on);
  EXPECT_EQ(fields.find("left_out"), nullptr);
  const auto fault = fault_of([&] { fields.refuse_unknown(); });
  EXPECT_NE(fault.find("unknown field \"names\""), std::string::npos) << fault;
  EXPECT_EQ(json_texts(fields.need("names"), "names"), std::vector<std::string>{"b"});
  fields.refuse_unknown();
}

TEST(JsonFields, NamesTheFieldThatIsWrong) {
  const auto object = parse_json(R"({"count": 300, "text": 1, "list": {}})", "test");
  JsonFields fields(object, "the test");
  for (const auto& [fault, word] :
       {std::pair{fault_of([&] { fields.need("size"); }), "\"size\" is missing"},
        {fault_of([&] { json_integer<std::int8_t>(object["count"], "count"); }), "\"count\" is out of range"},
        {fault_of([&] { json_text(object["text"], "text"); }), "\"text\" is no string"},
        {fault_of([&] { json_boolean(object["text"], "text"); }), "neither true nor false"},
        {fault_of([&] { json_number(object["list"], "list"); }), "\"list\" is no number"},
        {fault_of([&] { json_list(object["list"], "list"); }), "\"list\" is no list"},
        {fault_of([&] { JsonFields(object["text"], "the test"); }), "the test is no"}}) {
    EXPECT_NE(fault.find(word), std::string::npos) << fault;
  }
}

}  // namespace

}  // namespace stereosweep::base
