#include "query/QueryJson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::query {
namespace {

using base::Json;

[[noreturn]] void refuse(const std::string& problem, const std::string& why, const std::string& suggestion = "") {
  throw base::InputError(base::describe(problem, why, suggestion));
}

// The fields of one object; each may be taken once, what nobody takes is unknown.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  const Json* find(const std::string& name) {
    known_.push_back(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  const Json& need(const std::string& name) {
    const auto* found = find(name);
    if (found == nullptr) {
      refuse("field \"" + name + "\" is missing", "a query of this kind needs it");
    }
    return *found;
  }
  /// Reads a field that may be left out.
  template <class T, class Read>
  void take(const std::string& name, T& target, const Read& read) {
    if (const auto* found = find(name)) {
      target = read(*found, name);
    }
  }
  void refuse_unknown() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        refuse("unknown field " + base::json_quote(name), "a misspelt field would be ignored silently",
               base::did_you_mean(name, known_));
      }
    }
  }

 private:
  const Json& object_;
  std::vector<std::string> known_;
};

std::string text_of(const Json& value, const std::string& name) {
  if (!value.is_string()) {
    refuse("field \"" + name + "\" is no string", "found " + std::string(value.type_name()));
  }
  return value.get<std::string>();
}

const Json& list_of(const Json& value, const std::string& name) {
  if (!value.is_array()) {
    refuse("field \"" + name + "\" is no list", "found " + std::string(value.type_name()));
  }
  return value;
}

template <class T>
T integer_of(const Json& value, const std::string& name) {
  if (!value.is_number_integer()) {
    refuse("field \"" + name + "\" is no integer", "found " + value.dump());
  }
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                               : std::in_range<T>(value.get<std::int64_t>());
  if (!fits) {
    refuse("field \"" + name + "\" is out of range", value.dump() + " is below or above what it can hold");
  }
  return value.get<T>();
}

double number_of(const Json& value, const std::string& name) {
  if (!value.is_number()) {
    refuse("field \"" + name + "\" is no number", "found " + std::string(value.type_name()));
  }
  return value.get<double>();
}

std::vector<std::string> texts_of(const Json& value, const std::string& name) {
  std::vector<std::string> texts;
  for (const auto& text : list_of(value, name)) {
    texts.push_back(text_of(text, name));
  }
  return texts;
}

Query parse_fill(Fields& fields, const ChatWriter& /*write_chat*/) {
  Fill fill;
  fill.text = text_of(fields.need("text"), "text");
  for (const auto& ids : list_of(fields.need("ids"), "ids")) {
    auto& slot = fill.slots.emplace_back();
    for (const auto& id : list_of(ids, "ids")) {
      slot.targets.push_back(integer_of<TokenId>(id, "ids"));
    }
  }
  return fill;
}

/// "prompt", or "messages" written as one.
struct Prompt {
  std::string text;
  Framing framing = Framing::tokenizer;
};

Prompt parse_prompt(Fields& fields, const ChatWriter& write_chat) {
  const auto* messages = fields.find("messages");
  if (messages == nullptr) {
    return {text_of(fields.need("prompt"), "prompt"), Framing::tokenizer};
  }
  if (fields.find("prompt") != nullptr) {
    refuse("a query has \"prompt\" and \"messages\"", "one of them is what the model is given");
  }
  std::vector<Message> conversation;
  for (const auto& message : list_of(*messages, "messages")) {
    if (!message.is_object()) {
      refuse("an entry of \"messages\" is no object", "it has a role and a content");
    }
    Fields parts(message);
    auto role = text_of(parts.need("role"), "role");
    conversation.push_back({std::move(role), text_of(parts.need("content"), "content")});
    parts.refuse_unknown();
  }
  std::string chat;
  fields.take("chat", chat, text_of);
  if (!write_chat) {
    refuse("\"messages\" cannot be written here", "no chat templates are at hand");
  }
  return {write_chat(conversation, chat), Framing::written};
}

Query parse_continue(Fields& fields, const ChatWriter& write_chat) {
  auto prompt = parse_prompt(fields, write_chat);
  return Continue{std::move(prompt.text), texts_of(fields.need("continuations"), "continuations"), prompt.framing};
}

Query parse_embed(Fields& fields, const ChatWriter& /*write_chat*/) {
  Embed embed;
  embed.text = text_of(fields.need("text"), "text");
  const auto& span = list_of(fields.need("span"), "span");
  if (span.size() != 2) {
    refuse("field \"span\" has " + std::to_string(span.size()) + " entries", "it is [start, end] in bytes");
  }
  embed.span = {integer_of<std::size_t>(span[0], "span"), integer_of<std::size_t>(span[1], "span")};
  if (const auto* layer = fields.find("layer")) {
    if (*layer == "input") {
      embed.source = VectorSource::input_embedding;
    } else if (*layer == "sum") {
      embed.source = VectorSource::sum_of_states;
    } else if (layer->is_string()) {
      refuse("unknown layer " + layer->dump(), "it is the number of a hidden state, \"input\" or \"sum\"");
    } else {
      embed.layer = integer_of<int>(*layer, "layer");
    }
  }
  if (const auto* pool = fields.find("pool")) {
    const auto name = text_of(*pool, "pool");
    const std::vector<std::string> names = {"mean", "first", "last"};
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) {
      refuse("unknown pool " + base::json_quote(name), "there are mean, first and last",
             base::did_you_mean(name, names));
    }
    embed.pool = static_cast<Pool>(place - names.begin());
  }
  return embed;
}

Query parse_generate(Fields& fields, const ChatWriter& write_chat) {
  Generate generate;
  auto prompt = parse_prompt(fields, write_chat);
  generate.prompt = std::move(prompt.text);
  generate.framing = prompt.framing;
  generate.max_new_tokens = integer_of<std::int32_t>(fields.need("max_new_tokens"), "max_new_tokens");
  fields.take("temperature", generate.temperature, number_of);
  fields.take("top_k", generate.top_k, integer_of<std::int32_t>);
  fields.take("top_p", generate.top_p, number_of);
  fields.take("seed", generate.seed, integer_of<std::uint64_t>);
  if (const auto* value = fields.find("stop")) {
    generate.stop = value->is_string() ? std::vector{value->get<std::string>()} : texts_of(*value, "stop");
  }
  fields.take("repetition_penalty", generate.repetition_penalty, number_of);
  check_sampling(generate);
  return generate;
}

Details details_of(const Json& value, const std::string& name) {
  if (!value.is_boolean()) {
    refuse("field \"" + name + "\" is neither true nor false", "found " + value.dump());
  }
  return value.get<bool>() ? Details::written : Details::left_out;
}

template <class Values, class Format>
std::string list(const Values& values, const Format& format) {
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
  return line + "}";
}

std::string format(const QueryError& error, Details /*details*/) {
  return "{\"error\":" + base::json_quote(error.message) + "}";
}

}  // namespace

AskedLine parse_line(std::string_view line, const ChatWriter& write_chat) {
  if (const auto place = base::find_invalid_utf8(line)) {
    refuse("invalid UTF-8 at byte " + std::to_string(*place), "a query is one line of JSON");
  }
  const auto document = base::parse_json(line, "query");
  if (!document.is_object()) {
    refuse("a query is a JSON object", "found " + std::string(document.type_name()));
  }
  Fields fields(document);
  const auto kind = text_of(fields.need("kind"), "kind");
  using Parse = Query (*)(Fields&, const ChatWriter&);
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
  refuse("unknown kind " + base::json_quote(kind), "there are fill, continue, embed and generate",
         base::did_you_mean(kind, names));
}

Query parse_query(std::string_view line, const ChatWriter& write_chat) { return parse_line(line, write_chat).query; }

std::string format_answer(const Answer& answer, Details details) {
  return std::visit([&](const auto& kind) { return format(kind, details); }, answer);
}

}  // namespace stereosweep::query
