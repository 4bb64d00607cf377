#include "engine/causal/GenerationConfig.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::engine {

namespace {

// Nothing where `found` says none.
std::optional<std::vector<query::TokenId>> end_tokens_in(const base::JsonValue& found) {
  const auto end_token = [](const base::JsonValue& value) { return value.whole<query::TokenId>(0); };
  if (!found) {
    return std::nullopt;
  }
  return found.json().is_array() ? base::mapped(found.items(), end_token) : std::vector{end_token(found)};
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

std::vector<std::string> keys_not_followed(const base::Json& settings, const query::Generate& asked) {
  const auto value_of = [&](std::string_view key) { return settings.value(std::string(key), base::Json()); };
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
  const auto own = base::find_json(files, generation_settings);
  const auto config = base::find_json(files, "config.json");
  // Of a model that also sees, the part that reads.
  for (const auto& said : {own["eos_token_id"], own["text_config"]["eos_token_id"], config["eos_token_id"],
                           config["text_config"]["eos_token_id"]}) {
    if (auto ids = end_tokens_in(said)) {
      return *std::move(ids);
    }
  }
  if (files.find(generation_settings) != nullptr || config["eos_token_id"].says_null()) {
    return {};
  }
  const auto usual = model::usual_end_token(config["model_type"].text_or(""));
  return usual ? std::vector{*usual} : std::vector<query::TokenId>{};
}

}  // namespace stereosweep::engine
