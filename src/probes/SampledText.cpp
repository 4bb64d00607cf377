#include "probes/SampledText.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Yaml.hpp"
#include "probes/Probe.hpp"
#include "query/Sampling.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes {

/// Contexts whose questions are written before a run.
constexpr std::uint64_t max_contexts_checked = 2'000;

void check_sampling(const config::Fields& job, const TextSampling& sampling, std::int64_t draws,
                    const std::string& key) {
  if (sampling.temperature == 0 && draws > 1) {
    job.problems().add(job.node().find("sampling")->place("sampling." + key),
                       std::to_string(draws) + " " + key + " at temperature 0", "greedy answers are all the same",
                       "Set " + key + ": 1, or a temperature.");
  }
  if (sampling.long_thoughts == TextSampling::LongThoughts::closed && sampling.max_thought_tokens == 0) {
    job.problems().add(job.node().find("sampling")->place("sampling.long_thoughts"), "closed without a limit",
                       "max_thought_tokens is 0", "Say after how many tokens a thought is closed.");
  }
  job.problems().add_if(base::contains(sampling.stop, ""), job.place("sampling"), "an empty stop text",
                        "it would end every answer at once");
}

bool asks_by_messages(const sweep::Job& job) {
  return job.model.server && job.model.server->interface == sweep::Server::Interface::chat;
}

std::string messages_prompt(std::span<const chat::Message> messages) {
  auto list = base::Json::array();
  for (const auto& message : messages) {
    const auto* role = message.role == chat::Role::system ? "system"
                       : message.role == chat::Role::user ? "user"
                                                          : "assistant";
    list.push_back({{"role", role}, {"content", message.content}});
  }
  return list.dump();
}

query::Framing framing_of(const sweep::Job& job) {
  if (asks_by_messages(job)) {
    return query::Framing::messages;
  }
  return job.model.chat ? query::Framing::written : query::Framing::tokenizer;
}

// Of a thought that is too long: as templates with tags write its end, else the mark alone.
static std::string closing_text(const chat::ThoughtMarks& marks) {
  return marks.closing.starts_with("</") ? "\n" + marks.closing + "\n\n" : marks.closing;
}

query::Generate sampled_text(const sweep::Job& job, const TextSampling& sampling, const std::string& prompt,
                             std::uint64_t draw) {
  query::Generate generate;
  generate.prompt = prompt;
  const auto thoughts = thoughts_of(job, sampling);
  generate.max_new_tokens = static_cast<std::int32_t>(sampling.max_new_tokens +
                                                      (thoughts == Thoughts::kept ? sampling.max_thought_tokens : 0));
  if (thoughts == Thoughts::closed) {
    const auto& marks = *job.model.chat->thought;
    query::limit_thought(generate, {.tokens = static_cast<std::int32_t>(sampling.max_thought_tokens),
                                    .opening = marks.begins == chat::ThoughtMarks::Begins::inside ? "" : marks.opening,
                                    .closing = marks.closing,
                                    .closing_text = closing_text(marks)});
  }
  generate.temperature = sampling.temperature;
  generate.top_k = static_cast<std::int32_t>(sampling.top_k);
  generate.top_p = sampling.top_p;
  generate.repetition_penalty = sampling.repetition_penalty;
  generate.seed = base::random_bits(job.seed, base::stream_of(base::sha256(prompt)), draw);
  generate.stop = sampling.stop;
  generate.framing = framing_of(job);
  return generate;
}

std::string answer_lead(const chat::ChatTemplate& chat) {
  return chat.assistant.prefix.starts_with(chat.generation) ? chat.assistant.prefix.substr(chat.generation.size()) : "";
}

std::vector<chat::Message> opening_messages(const sweep::Job& job) {
  if (asks_by_messages(job) && job.model.system != "default" && job.model.system != "none") {
    return {{chat::Role::system, job.model.system}};
  }
  return job.model.chat ? chat::system_messages(*job.model.chat, job.model.system) : std::vector<chat::Message>();
}

chat::SplitAnswer split_answer(const sweep::Job& job, const std::string& text) {
  return job.model.chat ? chat::split_thought(*job.model.chat, text) : chat::SplitAnswer{"", text, false};
}

Thoughts thoughts_of(const sweep::Job& job, const TextSampling& sampling) {
  if (!job.model.chat || !job.model.chat->thought) {
    return Thoughts::none;
  }
  return sampling.long_thoughts == TextSampling::LongThoughts::closed ? Thoughts::closed : Thoughts::kept;
}

/// Null: nothing is known of the model's tokens.
static void require_control_tokens(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                   base::Problems& problems) {
  if (!job.model.chat || tokenizer == nullptr) {
    return;
  }
  const auto& thought = job.model.chat->thought;
  const auto is_left_out = [&](const std::string& mark) {
    using Special = tokenizer::Tokenizer::Special;
    const auto ids = tokenizer->encode(mark, tokenizer::SpecialTokens::leave_out).ids;
    return tokenizer->decode(ids, Special::keep).find(mark) != std::string::npos &&
           tokenizer->decode(ids, Special::skip).find(mark) == std::string::npos;
  };
  if (thought && !chat::begins_with_answer(*job.model.chat) && is_left_out(thought->closing)) {
    problems.add({.file = "", .line = 0, .key = "model.chat"},
                 "'" + thought->closing + "', which ends a thought, is a special token of this model",
                 "special tokens are left out of answers, so that thought and answer cannot be told apart",
                 "Say model.thinking: none if the model does not think.");
  }
  for (const auto& token : job.model.chat->control_tokens) {
    problems.add_if(!tokenizer->id_of(token), {.file = "", .line = 0, .key = "model.chat"},
                    "'" + token + "' of the chat template '" + job.model.chat->label + "' is no token of this model",
                    "it would be read as letters", "Name the model's own template, or none.");
  }
}

void require_chat(const sweep::Job& job, const TextSampling& sampling, const tokenizer::Tokenizer* tokenizer,
                  base::Problems& problems) {
  require_control_tokens(job, tokenizer, problems);
  if (thoughts_of(job, sampling) != Thoughts::closed) {
    return;
  }
  const base::Place place{.file = "", .line = 0, .key = "sampling.long_thoughts"};
  const auto& marks = *job.model.chat->thought;
  problems.add_if(job.model.server.has_value(), place, "closed with a server",
                  "its interface has one limit for the thought and the answer together", "Say cut.");
  problems.add_if(marks.opening.empty() && marks.begins == chat::ThoughtMarks::Begins::before, place, "closed",
                  "nothing tells where a thought of this model begins",
                  "Give model.chat.thought an opening mark, or say cut.");
}

void check_questions(const sweep::Job& job, const Probe& probe) {
  if (job.model.chat && job.model.chat->origin) {
    for (const auto& block : sweep::sample_blocks(probe.blocks(), max_contexts_checked)) {
      base::Sha256 of_all;  // a block's key holds every question
      probe.hash_content(block, of_all);
    }
  }
}

void add_thought_cubes(results::RawSchema& schema, const std::vector<std::string>& inner_axes, Thoughts thoughts) {
  if (thoughts == Thoughts::none) {
    return;
  }
  schema.cubes.push_back(cube("answer_thought", results::ElementType::text, inner_axes, "",
                              "what the model thought before the answer", "never read as an answer; empty: nothing"));
  schema.cubes.push_back(cube("answer_num_thought_tokens", results::ElementType::int32, inner_axes, "1",
                              "tokens of the thought with its closing mark"));
  if (thoughts == Thoughts::closed) {
    schema.cubes.push_back(cube("answer_thought_end", results::ElementType::uint8, inner_axes, "",
                                "whether the thought came to its limit", "closed: it had max_thought_tokens",
                                {"by_the_model", "closed"}));
  }
}

/// New tokens of the answer up to the end of its thought; 0 where no tokenizer can tell.
static std::int32_t num_thought_tokens(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                       const query::GenerateAnswer& answer, const chat::SplitAnswer& split) {
  if (split.is_cut || split.thought.empty() || tokenizer == nullptr) {
    return split.is_cut ? static_cast<std::int32_t>(answer.ids.size()) : 0;
  }
  const auto mark = tokenizer->id_of(job.model.chat->thought->closing);
  const auto last = mark ? std::ranges::find(answer.ids.rbegin(), answer.ids.rend(), *mark) : answer.ids.rend();
  if (last != answer.ids.rend()) {
    return static_cast<std::int32_t>(answer.ids.rend() - last);
  }
  const auto text = split.thought + job.model.chat->thought->closing;
  return static_cast<std::int32_t>(tokenizer->encode(text, tokenizer::SpecialTokens::leave_out).ids.size());
}

std::optional<std::string> keep_answer(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                       const query::GenerateAnswer& answer, const results::RawSchema& schema,
                                       results::RawBlock& raw, std::size_t cell) {
  const auto split = split_answer(job, answer.text);
  if (schema.find_cube("answer_thought")) {
    column_named<std::string>(raw, schema, "answer_thought")[cell] = kept_text(split.thought);
    column_named<std::int32_t>(raw, schema, "answer_num_thought_tokens")[cell] =
        num_thought_tokens(job, tokenizer, answer, split);
  }
  if (schema.find_cube("answer_thought_end")) {
    column_named<std::uint8_t>(raw, schema, "answer_thought_end")[cell] = answer.closed_thought ? 1 : 0;
  }
  if (split.is_cut) {
    return std::nullopt;
  }
  column_named<std::string>(raw, schema, "answer_text")[cell] = kept_text(split.answer);
  return split.answer;
}

void hash_thoughts(const sweep::Job& job, const TextSampling& sampling, base::Sha256& hash) {
  const auto thoughts = thoughts_of(job, sampling);
  if (thoughts != Thoughts::none) {
    hash.field(config::emit_yaml(config::dump_fields(*job.model.chat->thought)));
  }
  if (thoughts == Thoughts::closed) {
    hash.field(closing_text(*job.model.chat->thought));
  }
}

void fold_options(const query::Answer& answer, const results::RawSchema& schema, results::RawBlock& raw,
                  std::size_t context, std::size_t cell) {
  auto& statuses = column_named<std::uint8_t>(raw, schema, "option_status");
  if (has_failed<OptionStatus>(answer, statuses[cell], column_named<std::string>(raw, schema, "problem")[context])) {
    return;
  }
  const auto& options = std::get<query::ContinueAnswer>(answer).logprob;
  auto& sums = column_named<double>(raw, schema, "option_logprob");
  auto* num_tokens =
      schema.find_cube("option_num_tokens") ? &column_named<std::int32_t>(raw, schema, "option_num_tokens") : nullptr;
  const auto width = sums.size() / statuses.size();  // of the longest scale
  STEREOSWEEP_ASSERT(options.size() <= width, "one answer per option");
  auto status = OptionStatus::ok;
  for (std::size_t option = 0; option < options.size(); ++option) {
    const auto at = cell * width + option;
    sums[at] = std::accumulate(options[option].begin(), options[option].end(), 0.0);
    if (num_tokens != nullptr) {
      (*num_tokens)[at] = static_cast<std::int32_t>(options[option].size());
    }
    if (!std::isfinite(sums[at])) {
      status = OptionStatus::not_finite;
    }
  }
  statuses[cell] = static_cast<std::uint8_t>(status);
}

void require_closed_thought(const sweep::Job& job, base::Problems& problems) {
  problems.add_if(
      job.model.chat && !chat::begins_with_answer(*job.model.chat), {.file = "", .line = 0, .key = "model.thinking"},
      "probabilities of options are asked of a model that thinks before it answers",
      "they would be those of the first word of a thought",
      "Say model.thinking: off where its chat template can close the thought, or none if it does not think.");
}

std::string kept_text(const std::string& text) {
  return base::replace_all(text, std::string_view("\0", 1), "\xEF\xBF\xBD");
}

std::string filled(std::string_view text, const std::vector<Filling>& fillings) {
  std::string out;
  while (!text.empty()) {
    const auto found =
        std::ranges::find_if(fillings, [&](const Filling& filling) { return text.starts_with(filling.place); });
    if (found == fillings.end()) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(found->place.size());
    const bool opens = found->opening == Filling::Opening::capital && sweep::opens_sentence_at(out, text);
    out += opens ? sweep::capitalise(found->text) : found->text;
  }
  return out;
}

}  // namespace stereosweep::probes
