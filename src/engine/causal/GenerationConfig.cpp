#include "engine/causal/GenerationConfig.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::engine {

namespace {

query::TokenId end_token(const base::Json& value, const std::string& file) {
  constexpr auto largest = std::numeric_limits<query::TokenId>::max();
  base::refuse_if(!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > largest,
                  file + ": \"eos_token_id\" holds " + value.dump(), "it is a token id or a list of them");
  return value.get<query::TokenId>();
}

// Nothing where the object does not say it.
std::optional<std::vector<query::TokenId>> end_tokens_of(const base::Json& object, const std::string& file) {
  const auto found = object.is_object() ? object.find("eos_token_id") : object.end();
  if (found == object.end() || found->is_null()) {
    return std::nullopt;
  }
  if (!found->is_array()) {
    return std::vector{end_token(*found, file)};
  }
  return base::mapped(*found, [&](const auto& value) { return end_token(value, file); });
}

// Of the family, where config.json leaves the key out.
std::vector<query::TokenId> end_tokens_of_family(const base::Json& config) {
  const auto type = config.is_object() ? config.find("model_type") : config.end();
  if (!config.is_object() || config.contains("eos_token_id") || type == config.end() || !type->is_string()) {
    return {};
  }
  const auto token = model::usual_end_token(type->get<std::string>());
  return token ? std::vector{*token} : std::vector<query::TokenId>{};
}

// Processors and stopping rules of transformers 5.23, each with the number that means that it does nothing.
constexpr std::pair<std::string_view, std::optional<double>> choosing_keys[] = {
    {"bad_words_ids", std::nullopt},
    {"begin_suppress_tokens", std::nullopt},
    {"constraints", std::nullopt},
    {"diversity_penalty", 0},
    {"dola_layers", std::nullopt},
    {"encoder_no_repeat_ngram_size", 0},
    {"encoder_repetition_penalty", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"exponential_decay_length_penalty", std::nullopt},
    {"force_words_ids", std::nullopt},
    {"forced_bos_token_id", std::nullopt},
    {"forced_eos_token_id", std::nullopt},
    {"guidance_scale", 1},
    {"min_length", 0},
    {"min_new_tokens", 0},
    {"min_p", 0},
    {"no_repeat_ngram_size", 0},
    {"num_beams", 1},
    {"penalty_alpha", 0},
    {"sequence_bias", std::nullopt},
    {"stop_strings", std::nullopt},
    {"suppress_tokens", std::nullopt},
    {"token_healing", std::nullopt},
    {"top_h", std::nullopt},
    {"typical_p", 1},
    {"watermarking_config", std::nullopt}};

// Keys that a query has a field for.
constexpr std::pair<std::string_view, double (*)(const query::Generate&)> sampling_fields[] = {
    {"temperature", [](const query::Generate& asked) { return asked.temperature; }},
    {"top_p", [](const query::Generate& asked) { return asked.top_p; }},
    {"top_k", [](const query::Generate& asked) { return static_cast<double>(asked.top_k); }},
    {"repetition_penalty", [](const query::Generate& asked) { return asked.repetition_penalty; }}};

bool does_nothing(const base::Json& value, std::optional<double> neutral) {
  if (value.is_number()) {
    return neutral && value.get<double>() == *neutral;
  }
  if (value.is_boolean()) {
    return !value.get<bool>();
  }
  return value.is_string() ? value.get<std::string>().empty() : value.empty();  // null is empty
}

}  // namespace

base::Json read_generation_settings(const base::FileSet& files) {
  const std::string name = "generation_config.json";
  const auto* content = files.find(name);
  return content == nullptr ? base::Json() : base::parse_json(content->text(), files.directory() + "/" + name);
}

std::vector<std::string> keys_not_followed(const base::Json& settings, const query::Generate& asked) {
  const auto value_of = [&](std::string_view key) {
    return settings.is_object() && settings.contains(key) ? settings.at(std::string(key)) : base::Json();
  };
  std::vector<std::string> keys;
  for (const auto& [key, neutral] : choosing_keys) {
    if (!does_nothing(value_of(key), neutral)) {
      keys.emplace_back(key);
    }
  }
  const bool samples = asked.temperature > 0;
  const bool would_sample = value_of("do_sample") == true;
  if (value_of("do_sample") == !samples) {
    keys.emplace_back(samples ? "do_sample false (here true)" : "do_sample true (here false)");
  }
  for (const auto& [key, field] : sampling_fields) {
    const auto value = value_of(key);
    const bool is_read = samples || would_sample || key == "repetition_penalty";
    if (value.is_number() && is_read && value.get<double>() != field(asked)) {
      keys.push_back(std::string(key) + " " + value.dump() + " (here " + base::format_double(field(asked)) + ")");
    }
  }
  return keys;
}

std::vector<query::TokenId> read_end_tokens(const base::FileSet& files) {
  for (const std::string name : {"generation_config.json", "config.json"}) {
    const auto* content = files.find(name);
    if (content == nullptr) {
      continue;
    }
    const auto file = files.directory() + "/" + name;
    const auto document = base::parse_json(content->text(), file);
    if (auto ids = end_tokens_of(document, file)) {
      return *std::move(ids);
    }
    // Of a model that also sees, the part that reads.
    if (document.is_object() && document.contains("text_config")) {
      if (auto ids = end_tokens_of(document["text_config"], file)) {
        return *std::move(ids);
      }
    }
    if (files.find("generation_config.json") == nullptr) {
      return end_tokens_of_family(document);
    }
  }
  return {};
}

}  // namespace stereosweep::engine
