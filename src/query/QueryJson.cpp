#include "query/QueryJson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::query {
namespace {

using base::Json;
using base::JsonFields;

Query parse_fill(JsonFields& fields, const ChatWriter& /*write_chat*/) {
  Fill fill;
  fill.text = base::json_text(fields.need("text"), "text");
  for (const auto& ids : base::json_list(fields.need("ids"), "ids")) {
    auto& slot = fill.slots.emplace_back();
    for (const auto& id : base::json_list(ids, "ids")) {
      slot.targets.push_back(base::json_integer<TokenId>(id, "ids"));
    }
  }
  return fill;
}

/// "prompt", or "messages" written as one.
struct Prompt {
  std::string text;
  Framing framing = Framing::tokenizer;
};

Prompt parse_prompt(JsonFields& fields, const ChatWriter& write_chat) {
  const auto* messages = fields.find("messages");
  if (messages == nullptr) {
    return {base::json_text(fields.need("prompt"), "prompt"), Framing::tokenizer};
  }
  base::refuse_if(fields.find("prompt") != nullptr, "a query has \"prompt\" and \"messages\"",
                  "one of them is what the model is given");
  std::vector<Message> conversation;
  for (const auto& message : base::json_list(*messages, "messages")) {
    JsonFields parts(message, "an entry of \"messages\"");
    auto role = base::json_text(parts.need("role"), "role");
    conversation.push_back({std::move(role), base::json_text(parts.need("content"), "content")});
    parts.refuse_unknown();
  }
  std::string chat;
  fields.take("chat", chat, base::json_text);
  base::refuse_if(!write_chat, "\"messages\" cannot be written here", "no chat templates are at hand");
  return {write_chat(conversation, chat), Framing::written};
}

Query parse_continue(JsonFields& fields, const ChatWriter& write_chat) {
  auto prompt = parse_prompt(fields, write_chat);
  return Continue{std::move(prompt.text), base::json_texts(fields.need("continuations"), "continuations"),
                  prompt.framing};
}

Query parse_embed(JsonFields& fields, const ChatWriter& /*write_chat*/) {
  Embed embed;
  embed.text = base::json_text(fields.need("text"), "text");
  const auto& span = base::json_list(fields.need("span"), "span");
  base::refuse_if(span.size() != 2, "field \"span\" has " + std::to_string(span.size()) + " entries",
                  "it is [start, end] in bytes");
  embed.span = {base::json_integer<std::size_t>(span[0], "span"), base::json_integer<std::size_t>(span[1], "span")};
  if (const auto* layer = fields.find("layer")) {
    if (*layer == "input") {
      embed.source = VectorSource::input_embedding;
    } else if (*layer == "sum") {
      embed.source = VectorSource::sum_of_states;
    } else if (layer->is_string()) {
      base::refuse("unknown layer " + layer->dump(), "it is the number of a hidden state, \"input\" or \"sum\"");
    } else {
      embed.layer = base::json_integer<int>(*layer, "layer");
    }
  }
  if (const auto* pool = fields.find("pool")) {
    const auto name = base::json_text(*pool, "pool");
    const std::vector<std::string> names = {"mean", "first", "last"};
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) {  // a suggestion takes time, and most queries need none
      base::refuse("unknown pool " + base::json_quote(name), "there are mean, first and last",
                   base::did_you_mean(name, names));
    }
    embed.pool = static_cast<Pool>(place - names.begin());
  }
  return embed;
}

ThoughtLimit parse_thought(const Json& value) {
  JsonFields fields(value, "the field \"thought\"");
  ThoughtLimit limit;
  limit.tokens = base::json_integer<std::int16_t>(fields.need("tokens"), "tokens");
  fields.take("opening", limit.opening, base::json_text);
  limit.closing = limit.closing_text = base::json_text(fields.need("closing"), "closing");
  fields.take("closing_text", limit.closing_text, base::json_text);
  fields.refuse_unknown();
  return limit;
}

Query parse_generate(JsonFields& fields, const ChatWriter& write_chat) {
  Generate generate;
  auto prompt = parse_prompt(fields, write_chat);
  generate.prompt = std::move(prompt.text);
  generate.framing = prompt.framing;
  generate.max_new_tokens = base::json_integer<std::int32_t>(fields.need("max_new_tokens"), "max_new_tokens");
  fields.take("temperature", generate.temperature, base::json_number);
  fields.take("top_k", generate.top_k, base::json_integer<std::int32_t>);
  fields.take("top_p", generate.top_p, base::json_number);
  fields.take("seed", generate.seed, base::json_integer<std::uint64_t>);
  if (const auto* value = fields.find("stop")) {
    generate.stop = value->is_string() ? std::vector{value->get<std::string>()} : base::json_texts(*value, "stop");
  }
  fields.take("repetition_penalty", generate.repetition_penalty, base::json_number);
  if (const auto* value = fields.find("thought")) {
    limit_thought(generate, parse_thought(*value));
  }
  check_sampling(generate);
  return generate;
}

Details details_of(const Json& value, const std::string& name) {
  return base::json_boolean(value, name) ? Details::written : Details::left_out;
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
  const auto document = base::parse_json(line, "query");
  JsonFields fields(document, "a query");
  const auto kind = base::json_text(fields.need("kind"), "kind");
  using Parse = Query (*)(JsonFields&, const ChatWriter&);
  const std::vector<std::pair<std::string, Parse>> kinds = {
      {"fill", parse_fill}, {"continue", parse_continue}, {"embed", parse_embed}, {"generate", parse_generate}};
  std::vector<std::string> names;
  for (const auto& [name, parse] : kinds) {
    if (name == kind) {
      AskedLine asked{parse(fields, write_chat)};
      if (std::holds_alternative<Generate>(asked.query)) {
        fields.take("details", asked.details, details_of);
      }
      fields.refuse_unknown();
      return asked;
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
