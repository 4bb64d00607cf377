#include "query/QueryJson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::query {
namespace {

using base::JsonValue;

Query parse_fill(const JsonValue& asked, const ChatWriter& /*write_chat*/) {
  asked.refuse_others({"kind", "text", "ids"});
  Fill fill;
  fill.text = asked["text"].text();
  for (const auto& ids : asked["ids"].items()) {
    auto& slot = fill.slots.emplace_back();
    slot.targets = base::mapped(ids.items(), [](const JsonValue& id) { return id.whole<TokenId>(); });
  }
  return fill;
}

/// "prompt", or "messages" written as one.
struct Prompt {
  std::string text;
  Framing framing = Framing::tokenizer;
};

Prompt parse_prompt(const JsonValue& asked, const ChatWriter& write_chat) {
  const auto messages = asked["messages"];
  if (!messages) {
    asked["chat"].refuse_if(!!asked["chat"], "unknown field \"chat\"", "it says how \"messages\" are written");
    return {asked["prompt"].text(), Framing::tokenizer};
  }
  asked.refuse_if(!!asked["prompt"], "\"prompt\" and \"messages\" are given", "one of them is what the model is given");
  std::vector<Message> conversation;
  for (const auto& message : messages.items()) {
    message.refuse_others({"role", "content"});
    conversation.push_back({message["role"].text(), message["content"].text()});
  }
  messages.refuse_if(!write_chat, "cannot be written here", "no chat templates are at hand");
  return {write_chat(conversation, asked["chat"].text_or("")), Framing::written};
}

Query parse_continue(const JsonValue& asked, const ChatWriter& write_chat) {
  asked.refuse_others({"kind", "prompt", "messages", "chat", "continuations"});
  auto prompt = parse_prompt(asked, write_chat);
  return Continue{std::move(prompt.text), asked["continuations"].texts(), prompt.framing};
}

Query parse_embed(const JsonValue& asked, const ChatWriter& /*write_chat*/) {
  asked.refuse_others({"kind", "text", "span", "layer", "pool"});
  Embed embed;
  embed.text = asked["text"].text();
  const auto span = asked["span"].items();
  asked["span"].refuse_if(span.size() != 2, "has " + std::to_string(span.size()) + " entries",
                          "it is [start, end] in bytes");
  embed.span = {span[0].whole<std::size_t>(), span[1].whole<std::size_t>()};
  const auto layer = asked["layer"];
  if (layer.json() == "input") {
    embed.source = VectorSource::input_embedding;
  } else if (layer.json() == "sum") {
    embed.source = VectorSource::sum_of_states;
  } else {
    layer.refuse_if(layer.json().is_string(), "unknown layer " + layer.json().dump(),
                    "it is the number of a hidden state, \"input\" or \"sum\"");
    embed.layer = layer.whole_or<int>(embed.layer);
  }
  const std::vector<std::string> names = {"mean", "first", "last"};
  const auto name = asked["pool"].text_or(names[static_cast<std::size_t>(embed.pool)]);
  const auto place = std::ranges::find(names, name);
  if (place == names.end()) {  // a suggestion takes time, and most queries need none
    base::refuse("unknown pool " + base::json_quote(name), "there are mean, first and last",
                 base::did_you_mean(name, names));
  }
  embed.pool = static_cast<Pool>(place - names.begin());
  return embed;
}

ThoughtLimit parse_thought(const JsonValue& asked) {
  asked.refuse_others({"tokens", "opening", "closing", "closing_text"});
  ThoughtLimit limit;
  limit.tokens = asked["tokens"].whole<std::int16_t>();
  limit.opening = asked["opening"].text_or(limit.opening);
  limit.closing = asked["closing"].text();
  limit.closing_text = asked["closing_text"].text_or(limit.closing);
  return limit;
}

Query parse_generate(const JsonValue& asked, const ChatWriter& write_chat) {
  asked.refuse_others({"kind", "prompt", "messages", "chat", "max_new_tokens", "temperature", "top_k", "top_p", "seed",
                       "stop", "repetition_penalty", "thought", "details"});
  Generate generate;
  auto prompt = parse_prompt(asked, write_chat);
  generate.prompt = std::move(prompt.text);
  generate.framing = prompt.framing;
  generate.max_new_tokens = asked["max_new_tokens"].whole<std::int32_t>();
  generate.temperature = asked["temperature"].number_or(generate.temperature);
  generate.top_k = asked["top_k"].whole_or<std::int32_t>(generate.top_k);
  generate.top_p = asked["top_p"].number_or(generate.top_p);
  generate.seed = asked["seed"].whole_or<std::uint64_t>(generate.seed);
  if (const auto stop = asked["stop"]) {
    generate.stop = stop.json().is_string() ? std::vector{stop.text()} : stop.texts();
  }
  generate.repetition_penalty = asked["repetition_penalty"].number_or(generate.repetition_penalty);
  if (const auto thought = asked["thought"]) {
    limit_thought(generate, parse_thought(thought));
  }
  check_sampling(generate);
  return generate;
}

std::string list(const auto& values, const auto& format) {
  std::string text = "[";
  for (const auto& value : values) {
    text += (text.size() > 1 ? "," : "") + format(value);
  }
  return text + "]";
}

std::string numbers(const std::vector<double>& values) { return list(values, base::format_double); }

std::string format(const FillAnswer& answer, Details /*details*/) {
  return "{\"logprob\":" + list(answer.slots, [](const auto& slot) { return numbers(slot.logprob); }) + "}";
}

std::string format(const ContinueAnswer& answer, Details /*details*/) {
  const auto sum = [](const std::vector<double>& tokens) {
    return base::format_double(std::accumulate(tokens.begin(), tokens.end(), 0.0));
  };
  return "{\"logprob\":" + list(answer.logprob, sum) + ",\"tokens\":" + list(answer.logprob, numbers) + "}";
}

std::string format(const EmbedAnswer& answer, Details /*details*/) {
  return "{\"vector\":" + list(answer.vector, [](float value) { return base::format_double(value); }) + "}";
}

std::string format(const GenerateAnswer& answer, Details details) {
  auto line = "{\"text\":" + base::json_quote(answer.text) +
              ",\"ids\":" + list(answer.ids, [](TokenId id) { return std::to_string(id); });
  if (details == Details::written) {
    constexpr std::array endings = {"end_token", "stop", "length"};
    const auto mean = std::isnan(answer.mean_logprob) ? "null" : base::format_double(answer.mean_logprob);
    line += ",\"mean_logprob\":" + mean + ",\"ended\":\"" + endings.at(static_cast<std::size_t>(answer.ended)) + "\"";
  }
  return line + (answer.closed_thought ? ",\"closed_thought\":true}" : "}");
}

std::string format(const QueryError& error, Details /*details*/) {
  return "{\"error\":" + base::json_quote(error.message) + "}";
}

}  // namespace

AskedLine parse_line(std::string_view line, const ChatWriter& write_chat) {
  if (const auto place = base::find_invalid_utf8(line)) {
    base::refuse("invalid UTF-8 at byte " + std::to_string(*place), "a query is one line of JSON");
  }
  const base::JsonDocument document{"query", base::parse_json(line, "query")};
  const auto asked = document.value();
  const auto kind = asked["kind"].text();
  using Parse = Query (*)(const JsonValue&, const ChatWriter&);
  const std::vector<std::pair<std::string, Parse>> kinds = {
      {"fill", parse_fill}, {"continue", parse_continue}, {"embed", parse_embed}, {"generate", parse_generate}};
  std::vector<std::string> names;
  for (const auto& [name, parse] : kinds) {
    if (name == kind) {
      return {parse(asked, write_chat), asked["details"].flag_or(false) ? Details::written : Details::left_out};
    }
    names.push_back(name);
  }
  base::refuse("unknown kind " + base::json_quote(kind), "there are fill, continue, embed and generate",
               base::did_you_mean(kind, names));
}

std::string format_answer(const Answer& answer, Details details) {
  return std::visit([&](const auto& kind) { return format(kind, details); }, answer);
}

}  // namespace stereosweep::query
