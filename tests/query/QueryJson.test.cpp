#include "query/QueryJson.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/Error.hpp"

namespace stereosweep::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Query query_of(const std::string& line, const ChatWriter& write_chat = {}) {
  return parse_line(line, write_chat).query;
}

std::string fault_of(const std::string& line) {
  try {
    parse_line(line);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

TEST(QueryJson, ReadsEveryKind) {
  const auto fill = std::get<Fill>(query_of(R"({"kind":"fill","text":"The [MASK] \u00e9.","ids":[[1,2],[]]})"));
  EXPECT_EQ(fill.text, "The [MASK] \xc3\xa9.");
  ASSERT_EQ(fill.slots.size(), 2U);
  EXPECT_THAT(fill.slots[0].targets, ElementsAre(1, 2));
  EXPECT_FALSE(fill.class_masses || fill.set_distances);
  const auto follow = std::get<Continue>(query_of(R"({"kind":"continue","prompt":"a","continuations":[" b",""]})"));
  EXPECT_THAT(follow.continuations, ElementsAre(" b", ""));
  const auto embed =
      std::get<Embed>(query_of(R"({"kind":"embed","text":"abc","span":[1,3],"layer":-2,"pool":"last"})"));
  EXPECT_EQ(embed.span, (base::Span{1, 3}));
  EXPECT_EQ(embed.layer, -2);
  EXPECT_EQ(embed.pool, Pool::last);
  EXPECT_EQ(embed.source, VectorSource::hidden_state);
  const auto input = std::get<Embed>(query_of(R"({"kind":"embed","text":"abc","span":[1,3],"layer":"input"})"));
  EXPECT_EQ(input.source, VectorSource::input_embedding);
  const auto sum = std::get<Embed>(query_of(R"({"kind":"embed","text":"abc","span":[1,3],"layer":"sum"})"));
  EXPECT_EQ(sum.source, VectorSource::sum_of_states);
  const auto generate = std::get<Generate>(query_of(
      R"({"kind":"generate","prompt":"a","max_new_tokens":5,"temperature":0.5,"top_k":3,"top_p":0.9,"seed":7,"stop":["x"]})"));
  EXPECT_EQ(generate.max_new_tokens, 5);
  EXPECT_EQ(generate.top_p, 0.9);
  EXPECT_THAT(generate.stop, ElementsAre("x"));
  EXPECT_EQ(generate.repetition_penalty, 1);
  const auto line =
      parse_line(R"({"kind":"generate","prompt":"a","max_new_tokens":5,"repetition_penalty":1.25,"details":true})");
  EXPECT_EQ(std::get<Generate>(line.query).repetition_penalty, 1.25);
  EXPECT_EQ(line.details, Details::written);
  EXPECT_EQ(parse_line(R"({"kind":"generate","prompt":"a","max_new_tokens":5,"details":false})").details,
            Details::left_out);
}

TEST(QueryJson, WritesMessagesAsAPrompt) {
  const ChatWriter writer = [](std::span<const Message> messages, const std::string& chat) {
    std::string text = chat + "|";
    for (const auto& message : messages) {
      text += message.role + ":" + message.content + "|";
    }
    return text;
  };
  const std::string messages = R"("messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}])";
  const auto follow = std::get<Continue>(
      query_of(R"({"kind":"continue","chat":"llama3",)" + messages + R"(,"continuations":["a"]})", writer));
  EXPECT_EQ(follow.prompt, "llama3|system:s|user:u|");
  EXPECT_EQ(follow.framing, Framing::written);
  const auto generate =
      std::get<Generate>(query_of(R"({"kind":"generate","max_new_tokens":1,)" + messages + "}", writer));
  EXPECT_EQ(generate.prompt, "|system:s|user:u|");
  EXPECT_EQ(generate.framing, Framing::written);
  const auto plain = std::get<Generate>(query_of(R"({"kind":"generate","max_new_tokens":1,"prompt":"p"})", writer));
  EXPECT_EQ(plain.framing, Framing::tokenizer);
}

TEST(QueryJson, NamesWhatIsWrongWithMessages) {
  const std::string head = R"({"kind":"generate","max_new_tokens":1,)";
  EXPECT_THAT(fault_of(head + R"("messages":[],"prompt":"a"})"), HasSubstr("\"prompt\" and \"messages\""));
  EXPECT_THAT(fault_of(head + R"("messages":["a"]})"), HasSubstr("messages[0]: \"a\" (an object is needed"));
  EXPECT_THAT(fault_of(head + R"("messages":[{"role":"user"}]})"), HasSubstr("messages[0].content: is missing"));
  EXPECT_THAT(fault_of(head + R"("messages":[{"role":"user","content":"a","name":"b"}]})"), HasSubstr("unknown field"));
  EXPECT_THAT(fault_of(head + R"("prompt":"a","chat":"llama3"})"), HasSubstr("unknown field \"chat\""));
  EXPECT_THAT(fault_of(R"({"kind":"fill","messages":[],"text":"a","ids":[]})"), HasSubstr("unknown field"));
}

TEST(QueryJson, NamesWhatIsWrong) {
  EXPECT_THAT(fault_of(""), HasSubstr("JSON"));
  EXPECT_THAT(fault_of("[]"), HasSubstr("object"));
  EXPECT_THAT(fault_of("{"), HasSubstr("JSON"));
  EXPECT_THAT(fault_of("{\"kind\":\"fi\xff\"}"), HasSubstr("UTF-8 at byte 11"));
  EXPECT_THAT(fault_of(R"({"text":"a"})"), HasSubstr("kind: is missing"));
  EXPECT_THAT(fault_of(R"({"kind":"fil","text":"a","ids":[]})"), HasSubstr("Did you mean 'fill'"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","kind":"fill","text":"a","ids":[]})"), HasSubstr("twice"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a"})"), HasSubstr("ids: is missing"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a","ids":[],"id":1})"), HasSubstr("unknown field \"id\""));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":7,"ids":[]})"), HasSubstr("text: 7 (a text is needed"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a","ids":[1]})"), HasSubstr("ids[0]: 1 (a list is needed"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a","ids":[[1.5]]})"), HasSubstr("ids[0][0]: 1.5 (a whole number"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a","ids":[[99999999999]]})"), HasSubstr("to 2147483647 is needed"));
  EXPECT_THAT(fault_of(R"({"kind":"embed","text":"a","span":[1]})"), HasSubstr("[start, end]"));
  EXPECT_THAT(fault_of(R"({"kind":"embed","text":"a","span":[-1,2]})"),
              HasSubstr("span[0]: -1 (a whole number from 0 on"));
  EXPECT_THAT(fault_of(R"({"kind":"embed","text":"a","span":[0,1],"pool":"max"})"), HasSubstr("unknown pool"));
  EXPECT_THAT(fault_of(R"({"kind":"embed","text":"a","span":[0,1],"layer":"output"})"), HasSubstr("unknown layer"));
  EXPECT_THAT(fault_of(R"({"kind":"embed","text":"a","span":[0,1],"layer":1.5})"),
              HasSubstr("layer: 1.5 (a whole number"));
  EXPECT_THAT(fault_of(R"({"kind":"generate","prompt":"a","max_new_tokens":1,"top_p":0})"), HasSubstr("out of range"));
  const std::string generate = R"({"kind":"generate","prompt":"a","max_new_tokens":1,)";
  for (const char* penalty : {"0", "-1", "0.009", "100.5"}) {
    EXPECT_THAT(fault_of(generate + "\"repetition_penalty\":" + penalty + "}"), HasSubstr("repetition_penalty is out"));
  }
  const std::string thought = R"({"kind":"generate","prompt":"a","thought":{"tokens":9,"closing":"</t>"},)";
  EXPECT_EQ(fault_of(thought + R"("max_new_tokens":2147483633})"), "");  // and 9, and 5 of the closing text
  for (const char* tokens : {"-5", "2147483634", "2147483647"}) {
    EXPECT_THAT(fault_of(thought + "\"max_new_tokens\":" + tokens + "}"), HasSubstr("max_new_tokens is out of range"));
  }
  EXPECT_THAT(fault_of(generate + R"("details":1})"), HasSubstr("details: 1 (true or false is needed"));
  EXPECT_THAT(fault_of(R"({"kind":"fill","text":"a","ids":[],"details":true})"), HasSubstr("unknown field"));
  EXPECT_THAT(fault_of(std::string(100, '[')), HasSubstr("deeper"));
}

TEST(QueryJson, NumbersReadBackAsTheSameDouble) {
  FillAnswer answer;
  answer.slots.resize(2);
  answer.slots[0].logprob = {-1.0 / 3, -12.345678901234567, std::nextafter(-1.0, 0)};
  const auto text = format_answer(answer);
  EXPECT_THAT(text, HasSubstr(",[]]}"));
  auto place = text.find("[[") + 2;
  for (const double value : answer.slots[0].logprob) {
    char* end = nullptr;
    EXPECT_EQ(std::strtod(text.c_str() + place, &end), value);
    place = static_cast<std::size_t>(end - text.c_str()) + 1;
  }
  EXPECT_EQ(format_answer(FillAnswer{}), R"({"logprob":[]})");
}

TEST(QueryJson, WritesTheOtherAnswers) {
  EXPECT_EQ(format_answer(ContinueAnswer{{{-1, -0.5}, {-2}}}), R"({"logprob":[-1.5,-2],"tokens":[[-1,-0.5],[-2]]})");
  EXPECT_EQ(format_answer(EmbedAnswer{{0.5F, -1.0F}}), R"({"vector":[0.5,-1]})");
  EXPECT_EQ(format_answer(GenerateAnswer{"a\"\n", {1, 2}}), R"({"text":"a\"\n","ids":[1,2]})");
  const GenerateAnswer stopped{"a", {1, 2}, -1.5, Ending::stop};
  EXPECT_EQ(format_answer(stopped), R"({"text":"a","ids":[1,2]})");
  EXPECT_EQ(format_answer(stopped, Details::written), R"({"text":"a","ids":[1,2],"mean_logprob":-1.5,"ended":"stop"})");
  EXPECT_EQ(format_answer(GenerateAnswer{}, Details::written),
            R"({"text":"","ids":[],"mean_logprob":null,"ended":"length"})");
  EXPECT_EQ(format_answer(QueryError{"no", QueryFault::other}), R"({"error":"no"})");
}

}  // namespace
}  // namespace stereosweep::query
