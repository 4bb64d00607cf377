#include "base/text/JsonFields.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stereosweep::base {
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
