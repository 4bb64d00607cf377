// Bodies of requests and replies of servers, in the forms that servers really have.
#include "server/Interface.hpp"

#include <gmock/gmock.h>

#include "base/Error.hpp"

namespace stereosweep::server {
namespace {

using base::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

sweep::Server server_of(sweep::Server::Interface interface) {
  sweep::Server server;
  server.url = "http://localhost:1/v1";
  server.name = "m";
  server.interface = interface;
  return server;
}

const auto chat = server_of(sweep::Server::Interface::chat);
const auto completions = server_of(sweep::Server::Interface::completions);

query::Generate conversation() {
  query::Generate asked;
  asked.prompt = R"([{"role":"user","content":"Hi \"you\""}])";
  asked.framing = query::Framing::messages;
  asked.max_new_tokens = 5;
  asked.temperature = 0.5;
  asked.seed = 0xFFFFFFFF12345678U;
  return asked;
}

query::Continue options() { return {"Answer:", {" warm", " not at all"}, query::Framing::tokenizer}; }

Reply completion_of(const std::string& tokens, const std::string& numbers, const std::string& usage = "1") {
  return {200, R"({"model":"m","usage":{"prompt_tokens":3,"completion_tokens":)" + usage +
                   R"(},"choices":[{"text":"","logprobs":{"tokens":)" + tokens + R"(,"token_logprobs":)" + numbers +
                   "}}]}"};
}

TEST(Bodies, HoldConversationAndSampling) {
  const auto bodies = bodies_of(conversation(), chat);
  ASSERT_EQ(bodies.size(), 1U);
  EXPECT_EQ(bodies.front(),
            R"({"model":"m","messages":[{"role":"user","content":"Hi \"you\""}],"max_tokens":5,"temperature":0.5,)"
            R"("top_p":1.0,"seed":305419896})");
}

TEST(Bodies, HoldWhatIsNoDefault) {
  auto asked = conversation();
  asked.stop = {"\n"};
  asked.top_k = 4;
  asked.repetition_penalty = 1.5;
  EXPECT_THAT(bodies_of(asked, chat).front(), HasSubstr(R"("stop":["\n"],"top_k":4,"repetition_penalty":1.5)"));
}

TEST(Bodies, OfContinuationsAskTheWholeText) {
  const auto bodies = bodies_of(options(), completions);
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_EQ(bodies[1], R"({"model":"m","prompt":"Answer: not at all","max_tokens":1,"temperature":0,"echo":true,)"
                       R"("logprobs":1})");
  auto written = options();
  written.framing = query::Framing::written;  // its own text holds the control tokens
  EXPECT_THAT(bodies_of(written, completions).front(), HasSubstr(R"("add_special_tokens":false)"));
}

TEST(Bodies, AreRefusedWhereTheInterfaceHasNoSuchThing) {
  EXPECT_THROW(bodies_of(options(), chat), base::InputError);
  EXPECT_THROW(bodies_of(conversation(), completions), base::InputError);
  EXPECT_THROW(bodies_of(query::Fill{}, completions), base::InputError);
  EXPECT_THROW(bodies_of(query::Embed{}, chat), base::InputError);
}

query::GenerateAnswer text_of(const std::string& reply) {
  const auto kept = read_reply(conversation(), {200, reply});
  return std::get<query::GenerateAnswer>(answer_of(conversation(), std::vector<Json>{kept}));
}

TEST(Replies, OfConversations) {
  const auto answer = text_of(
      R"({"choices":[{"message":{"content":"warm"},"finish_reason":"length"}],"usage":{"completion_tokens":4}})");
  EXPECT_EQ(answer.text, "warm");
  EXPECT_EQ(answer.ended, query::Ending::length);
  EXPECT_THAT(answer.ids, ElementsAre(-1, -1, -1, -1));
  EXPECT_EQ(text_of(R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})").ended,
            query::Ending::end_token);
  EXPECT_EQ(text_of(R"({"choices":[{"message":{"content":null,"refusal":"I cannot."}}]})").text, "I cannot.");
  EXPECT_EQ(text_of(R"({"choices":[{"message":{"content":null}}]})").text, "");
  EXPECT_EQ(text_of(R"({"choices":[{"message":{"content":""}}]})").text, "");
  EXPECT_EQ(text_of(R"({"choices":[{"message":{"content":"\n\n"}}]})").text, "\n\n");
}

TEST(Replies, ThatAreNotWholeAreAskedAgain) {
  for (const auto* reply : {"", "{\"choices\":[{\"mess", "<html>", "{}", "[]", "{\"choices\":[]}", "{\"choices\":[{}]}",
                            R"({"choices":[{"message":{}}]})", R"({"choices":[{"message":{"content":7}}]})"}) {
    try {
      read_reply(conversation(), {200, reply});
      ADD_FAILURE() << reply;
    } catch (const base::InputError&) {
      ADD_FAILURE() << "no refusal: " << reply;
    } catch (const base::Error&) {
    }
  }
}

query::Answer answer_to_options(const Reply& first, const Reply& second) {
  return answer_of(options(), std::vector<Json>{read_reply(options(), first), read_reply(options(), second)});
}

TEST(Replies, OfContinuationsAreReadFromTheirEnd) {
  const auto answer = std::get<query::ContinueAnswer>(
      answer_to_options(completion_of(R"(["<s>","Answer",":"," wa","rm"," and"])", "[null,-1,-2,-3,-4.5,-9]"),
                        completion_of(R"(["Answer",": not"," at"," all"," x"," y"])", "[null,-6,-7,-8,-9,-9]", "2")));
  EXPECT_THAT(answer.logprob, ElementsAre(ElementsAre(-3, -4.5), ElementsAre(-6, -7, -8)));  // ": not" bridges both
}

TEST(Replies, OfContinuationsMayLackTheNewToken) {
  const auto second = completion_of(R"(["Answer",":"," not"," at"," all"])", "[null,-5,-6,-7,-8]");
  const auto answer = std::get<query::ContinueAnswer>(
      answer_to_options(completion_of(R"(["Answer",":"," warm"," warm"])", "[null,-1,-2,-9]"), second));
  EXPECT_THAT(answer.logprob, ElementsAre(ElementsAre(-2), ElementsAre(-6, -7, -8)));
}

TEST(Replies, OfContinuationsWhoseTokensDoNotSpellThemAreFaults) {
  const auto good = completion_of(R"(["Answer:"," warm"," x"])", "[null,-1,-2]");
  const auto answer =
      answer_to_options(good, completion_of(R"(["Ans","wer:"," not","?"," all"," x"])", "[null,-1,-1,-1,-1,-1]"));
  EXPECT_THAT(std::get<query::QueryError>(answer).message, HasSubstr("do not spell the continuation"));
  const auto first = answer_to_options(completion_of(R"(["Answer: warm"," x"])", "[null,-1]"), good);
  EXPECT_THAT(std::get<query::QueryError>(first).message, HasSubstr("nothing stands before it"));
}

TEST(Replies, WithoutProbabilitiesRefuseTheServer) {
  EXPECT_THROW(read_reply(options(), {200, R"({"choices":[{"text":"x"}]})"}), base::InputError);
  EXPECT_THROW(read_reply(options(), {200, R"({"choices":[{"text":"x","logprobs":null}]})"}), base::InputError);
  EXPECT_THROW(read_reply(options(), completion_of("[]", "[]")), base::InputError);
  EXPECT_THROW(read_reply(options(), completion_of("[\"x\",\"y\"]", "[null]")), base::InputError);
}

TEST(Replies, ThatRefuseOneQueryAreItsAnswer) {
  const auto fault = [](long status, const std::string& body) {
    return std::get<query::QueryError>(
        answer_of(conversation(), std::vector<Json>{read_reply(conversation(), {status, body})}));
  };
  const auto long_text = fault(400, R"({"error":{"message":"This model's maximum context length is 9 tokens."}})");
  EXPECT_EQ(long_text.fault, query::QueryFault::too_long);
  EXPECT_THAT(long_text.message, HasSubstr("status 400: This model's maximum context length is 9 tokens."));
  EXPECT_EQ(fault(413, "").fault, query::QueryFault::too_long);
  EXPECT_EQ(fault(422, R"({"detail":"bad"})").fault, query::QueryFault::other);
  EXPECT_THAT(fault(400, R"({"error":"top_k is unknown"})").message, HasSubstr("top_k is unknown"));
  EXPECT_THAT(fault(400, "no JSON").message, HasSubstr("no JSON"));
}

TEST(Replies, ThatRefuseTheTrialRefuseTheServer) {
  try {
    read_trial({400, R"({"error":{"message":"logprobs are not allowed"}})"});
    ADD_FAILURE() << "taken for a token";
  } catch (const base::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("status 400: logprobs are not allowed"));
  }
}

}  // namespace
}  // namespace stereosweep::server
