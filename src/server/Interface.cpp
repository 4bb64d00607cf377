#include "server/Interface.hpp"

#include <algorithm>
#include <string_view>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::server {
namespace {

using base::Json;
using sweep::Server;

Json body_of(const query::Generate& asked, const Server& server) {
  base::refuse_if(asked.thought.has_value(), "a thought's limit is asked of a server",
                  "its interface has one limit for the thought and the answer together");
  Json body = {{"model", server.name}};
  if (asked.framing == query::Framing::messages) {
    body["messages"] = base::parse_json(asked.prompt, "conversation");
  } else {
    body["prompt"] = asked.prompt;
  }
  body["max_tokens"] = asked.max_new_tokens;
  body["temperature"] = asked.temperature;
  body["top_p"] = asked.top_p;
  body["seed"] = asked.seed & 0x7FFFFFFFU;  // servers take positive numbers of 31 bits
  if (!asked.stop.empty()) {
    body["stop"] = asked.stop;
  }
  if (asked.top_k > 0) {
    body["top_k"] = asked.top_k;
  }
  if (asked.repetition_penalty != 1) {
    body["repetition_penalty"] = asked.repetition_penalty;
  }
  if (asked.framing == query::Framing::written) {
    body["add_special_tokens"] = false;  // the prompt's own text holds them
  }
  return body;
}

/// The prompt with its continuation comes back with the log-probability of every token; what follows is cut off.
Json body_of(const query::Continue& asked, const std::string& continuation, const Server& server) {
  Json body = {{"model", server.name}, {"prompt", asked.prompt + continuation},
               {"max_tokens", 1},      {"temperature", 0},
               {"echo", true},         {"logprobs", 1}};
  if (asked.framing == query::Framing::written) {
    body["add_special_tokens"] = false;
  }
  return body;
}

void require_interface(query::Framing framing, const Server& server) {
  const bool is_chat = server.interface == Server::Interface::chat;
  base::refuse_if(is_chat != (framing == query::Framing::messages),
                  is_chat ? "a plain text for the interface chat" : "a conversation for the interface completions",
                  is_chat ? "it takes conversations" : "it takes texts", "Change model.interface.");
}

/// What stands at a path of a reply; null where nothing does.
Json value_at(const Json& reply, const char* path) {
  const Json::json_pointer place(path);
  return reply.contains(place) ? reply.at(place) : Json();
}

std::string text_or(const Json& reply, const char* path, const std::string& otherwise = "") {
  const auto found = value_at(reply, path);
  return found.is_string() ? found.get<std::string>() : otherwise;
}

std::int64_t count_or(const Json& reply, const char* path, std::int64_t otherwise) {
  const auto found = value_at(reply, path);
  return found.is_number_integer() ? std::max<std::int64_t>(0, found.get<std::int64_t>()) : otherwise;
}

/// In how servers word it: nothing else tells a prompt that is too long from other faults.
bool tells_of_length(const std::string& text) {
  const auto lower = base::lower_ascii(text);
  const auto has = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  return has("context length") || has("context_length") || has("maximum context") || has("context window") ||
         has("context size") || has("too long") || has("max_model_len");
}

/// What a server refuses of one request, whatever the form in which it says so.
Json read_fault(const Reply& reply) {
  std::string said = reply.body;
  try {
    const auto body = base::parse_json(reply.body, "reply");
    for (const char* path : {"", "/error", "/detail", "/message", "/error/message"}) {  // the last one counts
      said = text_or(body, path, said);
    }
  } catch (const base::InputError&) {  // no JSON: what stands there is what was said
  }
  said = base::excerpt(base::printable(said), 500);
  return {{"error", "the server refuses the request with status " + std::to_string(reply.status) + ": " + said},
          {"is_too_long", reply.status == 413 || tells_of_length(said)}};
}

[[noreturn]] void lacks(const std::string& what, const Reply& reply) {
  throw base::Error("the reply has no " + what + ": " + reply.body);
}

Json body_in(const Reply& reply) {
  try {
    return base::parse_json(reply.body, "reply");
  } catch (const base::InputError& error) {
    throw base::Error(error.what());  // cut off: to be asked again
  }
}

Json choice_in(const Json& body, const Reply& reply) {
  auto choice = value_at(body, "/choices/0");
  if (!choice.is_object()) {
    lacks("'choices'", reply);
  }
  return choice;
}

/// The answer's text: that of the message or of the completion; a refusal that has a field of its own is one, too.
std::string text_of(const Json& choice, const Reply& reply) {
  const auto message = value_at(choice, "/message");
  const auto text = value_at(choice, "/text");
  if (message.is_object()) {
    const auto content = message.value("content", Json(0));
    if (content.is_null() || content.is_string() || message.contains("refusal")) {
      return text_or(message, "/content", text_or(message, "/refusal"));
    }
  } else if (text.is_string()) {
    return text.get<std::string>();
  }
  lacks("text", reply);
}

/// Tokens and numbers of the prompt and its continuation, and of what was generated behind them.
void read_logprobs(const Json& choice, Json& kept) {
  const auto tokens = value_at(choice, "/logprobs/tokens");
  const auto numbers = value_at(choice, "/logprobs/token_logprobs");
  base::refuse_if(!tokens.is_array() || tokens.empty() || !numbers.is_array() || numbers.size() != tokens.size(),
                  "the server gives no log-probabilities of a prompt",
                  "its reply to a completion with 'echo' and 'logprobs' lacks them",
                  "vLLM has them. Or ask sampled answers alone, with model.interface: chat.");
  kept["tokens"] = tokens;
  kept["logprobs"] = numbers;
}

std::string spelled(const Json& tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += tokens[i].is_string() ? tokens[i].get<std::string>() : "";
  }
  return text;
}

/// How many tokens are the asked text's: some servers list the generated ones behind them, some do not.
std::size_t count_asked(const Json& kept, const std::string& text) {
  const auto& tokens = kept.at("tokens");
  const auto generated = std::min(kept.at("new_tokens").get<std::size_t>(), tokens.size());
  const bool lists_none = !spelled(tokens, 0, tokens.size() - generated).ends_with(text) &&
                          spelled(tokens, 0, tokens.size()).ends_with(text);
  return lists_none ? tokens.size() : tokens.size() - generated;
}

/// The tokens of the continuation: the last ones, back to where its text begins. A token in which the prompt ends and
/// the continuation begins is one of them.
std::vector<double> continuation_logprobs(const Json& kept, const std::string& prompt,
                                          const std::string& continuation) {
  const auto& tokens = kept.at("tokens");
  const auto end = count_asked(kept, prompt + continuation);
  std::vector<double> found;
  auto begin = end;
  while (begin > 0 && spelled(tokens, begin, end).size() < continuation.size()) {
    const auto& number = kept.at("logprobs")[--begin];
    base::refuse_if(!number.is_number(), "the first token of a text has no probability", "nothing stands before it");
    found.push_back(number.get<double>());
  }
  const auto text = spelled(tokens, begin, end);
  base::refuse_if(!text.ends_with(continuation),
                  "the server's tokens do not spell the continuation " + base::json_quote(continuation),
                  "they spell " + base::json_quote(base::excerpt(text, 100)));
  std::ranges::reverse(found);
  return found;
}

query::Answer answer_to(const query::Generate& asked, const Json& kept) {
  query::GenerateAnswer answer;
  answer.text = kept.at("text").get<std::string>();
  const auto told = std::clamp<std::int64_t>(kept.at("new_tokens").get<std::int64_t>(), 0, asked.max_new_tokens);
  answer.ids.assign(static_cast<std::size_t>(told), query::unknown_token);
  answer.ended = kept.at("finish") == "length" ? query::Ending::length : query::Ending::end_token;
  return answer;
}

}  // namespace

std::string path_of(Server::Interface interface) {
  return interface == Server::Interface::chat ? "/chat/completions" : "/completions";
}

std::vector<std::string> bodies_of(const query::Query& asked, const Server& server) {
  std::vector<std::string> bodies;
  if (const auto* generate = std::get_if<query::Generate>(&asked)) {
    require_interface(generate->framing, server);
    bodies.push_back(body_of(*generate, server).dump());
  } else if (const auto* next = std::get_if<query::Continue>(&asked)) {
    base::refuse_if(server.interface == Server::Interface::chat, "the interface chat gives no probabilities of options",
                    "conversations come back as texts", "Set model.interface: completions.");
    require_interface(next->framing, server);
    for (const auto& continuation : next->continuations) {
      bodies.push_back(body_of(*next, continuation, server).dump());
    }
  } else {
    base::refuse("a server cannot be asked for masks or vectors", "it completes texts",
                 "Name a checkpoint: model.path.");
  }
  return bodies;
}

Json read_reply(const query::Query& asked, const Reply& reply) {
  if (reply.status >= 400) {
    return read_fault(reply);
  }
  const auto body = body_in(reply);
  const auto choice = choice_in(body, reply);
  const bool asks_probabilities = std::holds_alternative<query::Continue>(asked);
  Json kept = {{"model", text_or(body, "/model")},
               {"fingerprint", text_or(body, "/system_fingerprint")},
               {"prompt_tokens", count_or(body, "/usage/prompt_tokens", 0)},
               {"new_tokens", count_or(body, "/usage/completion_tokens", asks_probabilities ? 1 : 0)}};
  if (asks_probabilities) {
    read_logprobs(choice, kept);
  } else {
    kept["text"] = text_of(choice, reply);
    kept["finish"] = text_or(choice, "/finish_reason", "stop");
  }
  return kept;
}

query::Answer answer_of(const query::Query& asked, std::span<const Json> kept) {
  for (const auto& one : kept) {
    if (one.contains("error")) {
      return query::QueryError{one.at("error").get<std::string>(), one.value("is_too_long", false)
                                                                       ? query::QueryFault::too_long
                                                                       : query::QueryFault::other};
    }
  }
  if (const auto* generate = std::get_if<query::Generate>(&asked)) {
    return answer_to(*generate, kept.front());
  }
  const auto& next = std::get<query::Continue>(asked);
  query::ContinueAnswer answer;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    try {
      answer.logprob.push_back(continuation_logprobs(kept[i], next.prompt, next.continuations[i]));
    } catch (const base::InputError& error) {
      return query::QueryError{error.what()};
    }
  }
  return answer;
}

std::string trial_body(const std::string& prompt, const Server& server) {
  return Json({{"model", server.name}, {"prompt", prompt}, {"max_tokens", 1}, {"temperature", 0}, {"logprobs", 1}})
      .dump();
}

TrialToken read_trial(const Reply& reply) {
  if (reply.status >= 400) {
    throw base::InputError(read_fault(reply).at("error").get<std::string>());
  }
  const auto choice = choice_in(body_in(reply), reply);
  Json kept;
  read_logprobs(choice, kept);
  const auto& number = kept.at("logprobs").front();
  return {text_of(choice, reply), number.is_number() ? number.get<double>() : 0};
}

}  // namespace stereosweep::server
