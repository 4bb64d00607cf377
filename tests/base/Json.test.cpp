#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/text/JsonValue.hpp"

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

const JsonDocument document{"test.json", parse_json(R"({"text": "a", "count": 300, "share": 0.5, "names": ["b", "c"],
  "on": true, "none": null, "inner": {"list": [1, {"deep": -2}]}})",
                                                    "test.json")};

TEST(JsonValue, TakesWhatIsThereAndElseWhatIsUsual) {
  EXPECT_EQ(document["text"].text(), "a");
  EXPECT_EQ(document["count"].whole<int>(), 300);
  EXPECT_EQ(document["count"].size(), 300);
  EXPECT_EQ(document["share"].number(), 0.5);
  EXPECT_EQ(document["share"].fraction(), 0.5);
  EXPECT_TRUE(document["on"].flag());
  EXPECT_EQ(document["names"].texts(), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(document["inner"]["list"].items()[1]["deep"].whole<int>(), -2);
  for (const auto& left_out : {document["none"], document["missing"], document["missing"]["too"]}) {
    EXPECT_FALSE(left_out);
    EXPECT_TRUE(left_out.json().is_null());
    EXPECT_EQ(left_out.text_or("z"), "z");
    EXPECT_EQ(left_out.size_or(7), 7);
    EXPECT_EQ(left_out.whole_or<int>(-7), -7);
    EXPECT_TRUE(left_out.flag_or(true));
    EXPECT_EQ(left_out.positive_or(2.5), 2.5);
  }
  EXPECT_TRUE(document["none"].says_null());
  EXPECT_FALSE(document["missing"].says_null());
  EXPECT_NO_THROW(document["inner"].refuse_others({"list", "more"}));
}

TEST(JsonValue, NamesFileAndKeyOfWhatIsWrong) {
  const auto list = document["inner"]["list"];
  for (const auto& [fault, words] :
       {std::pair{fault_of([&] { document["size"].size(); }), "test.json:size: is missing (a whole number from 1 to"},
        {fault_of([&] { document["none"].text(); }), "test.json:none: null (a text is needed)"},
        {fault_of([&] { document["a"]["b"].flag(); }), "test.json:a.b: is missing (true or false is needed)"},
        {fault_of([&] { document["count"].whole<std::int8_t>(); }), "count: 300 (a whole number from -128 to 127 is"},
        {fault_of([&] { document["count"].whole<std::size_t>(301); }), "count: 300 (a whole number from 301 on is"},
        {fault_of([&] { document["share"].whole<int>(); }), "share: 0.5 (a whole number"},
        {fault_of([&] { document["count"].text_or(""); }), "count: 300 (a text is needed)"},
        {fault_of([&] { document["count"].fraction(); }), "count: 300 (a number between 0 and 1 is needed)"},
        {fault_of([&] { list.items()[1]["deep"].positive(); }), "inner.list[1].deep: -2 (a number from 1e-12 to 1e12"},
        {fault_of([&] { list.items()[1].number(); }), "test.json:inner.list[1]: is an object (a number is needed)"},
        {fault_of([&] { list.texts(); }), "test.json:inner.list[0]: 1 (a text is needed)"},
        {fault_of([&] { list["key"]; }), "test.json:inner.list: is a list (an object is needed)"},
        {fault_of([&] { document["inner"].items(); }), "test.json:inner: is an object (a list is needed)"},
        {fault_of([&] { document["inner"].refuse_others({"lists"}); }),
         "test.json:inner: unknown field \"list\" (a misspelt field would be ignored silently). Did you mean "
         "'lists'?"}}) {
    EXPECT_NE(fault.find(words), std::string::npos) << fault;
  }
}

}  // namespace

}  // namespace stereosweep::base
