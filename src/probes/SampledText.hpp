// Texts that a probe lets a causal model write: the prompts' places, how texts are drawn, and the query for each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/files/Sha256.hpp"
#include "chat/ChatTemplate.hpp"
#include "chat/Writing.hpp"
#include "config/yaml/Fields.hpp"
#include "probes/Probe.hpp"
#include "query/Query.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes {

/// What the sampling of every such probe has; how many texts is the probe's own.
struct TextSampling {
  std::int64_t max_new_tokens = 0;
  /// What becomes of a thought that is too long. cut: thought and answer have all tokens together, and there may be no
  /// answer; closed: after max_thought_tokens it is closed for the model, and the answer has its own max_new_tokens.
  enum class LongThoughts : std::uint8_t { cut, closed };
  inline static const std::vector<std::string> long_thoughts_names = {"cut", "closed"};
  std::int64_t max_thought_tokens = 0;  ///< further tokens, for what a model thinks before it answers
  LongThoughts long_thoughts = LongThoughts::cut;
  double temperature = 1;  ///< 0: greedy, and then one text
  double top_p = 1;
  std::int64_t top_k = 0;  ///< 0: all
  double repetition_penalty = 1;
  std::vector<std::string> stop;
  bool operator==(const TextSampling&) const = default;
  /// Keys behind the one that says how many texts.
  static void text_keys(auto& self, auto& keys, std::int64_t most_tokens) {
    keys.integer("max_new_tokens", self.max_new_tokens, 1, most_tokens);
    keys.unless_default().integer("max_thought_tokens", self.max_thought_tokens, 0, 1'000'000,
                                  "further tokens, for what a model thinks before it answers");
    keys.unless_default().choice("long_thoughts", self.long_thoughts, long_thoughts_names,
                                 "closed: after max_thought_tokens, and the answer has all of max_new_tokens");
    keys.number("temperature", self.temperature, 0, 100, "0: greedy");
  }
};

/// Reports a text of `sampling.stop` that would end every answer at once, and texts that would all be the same.
/// `draws`: how many are drawn, `key` says so: "runs".
void check_sampling(const config::Fields& job, const TextSampling& sampling, std::int64_t draws,
                    const std::string& key);

/// Whether prompts are conversations that a server writes in its own way.
bool asks_by_messages(const sweep::Job& job);
/// A prompt of such a conversation.
std::string messages_prompt(std::span<const chat::Message> messages);

/// A chat template writes every control token itself.
query::Framing framing_of(const sweep::Job& job);

/// The text number `draw` after a prompt. Its seed follows from the job's and from what is asked, so that neither ranks
/// nor blocks nor other entries of the axes change a text.
query::Generate sampled_text(const sweep::Job& job, const TextSampling& sampling, const std::string& prompt,
                             std::uint64_t draw);

/// What stands between the prompt and an answer: what the chat format writes before one.
std::string answer_lead(const chat::ChatTemplate& chat);

/// What stands before the first question of every conversation: nothing, or the system's message (`model.system`).
std::vector<chat::Message> opening_messages(const sweep::Job& job);

/// A sampled text without the thought before it, as far as the job's chat template tells where that ends.
chat::SplitAnswer split_answer(const sweep::Job& job, const std::string& text);

/// Writes questions of the probe before its run. Throws InputError for one that the chat template writes otherwise.
void check_questions(const sweep::Job& job, const Probe& probe);

/// Whether a result keeps what a model thinks before it answers, in cubes and statuses of their own; and whether
/// thoughts that became too long were closed.
enum class Thoughts { none, kept, closed };
Thoughts thoughts_of(const sweep::Job& job, const TextSampling& sampling);
constexpr const char* truncated_thought_name = "truncated_thought";
/// Where thoughts are kept: `answer_thought` and `answer_num_thought_tokens`, over the axes of answers, and
/// `answer_thought_end` where some are closed.
void add_thought_cubes(results::RawSchema& schema, const std::vector<std::string>& inner_axes, Thoughts thoughts);
/// Reports control tokens of the job's chat template that the model does not have, and limits of thoughts that cannot
/// be kept. `tokenizer`: null where a server answers.
void require_chat(const sweep::Job& job, const TextSampling& sampling, const tokenizer::Tokenizer* tokenizer,
                  base::Problems& problems);
/// How thoughts are told from answers, for a block's key; nothing where they are not.
void hash_thoughts(const sweep::Job& job, const TextSampling& sampling, base::Sha256& hash);

/// Why the log-probabilities of options are what they are. not_asked: of a turn also where it was not reached.
enum class OptionStatus : std::uint8_t { ok, too_long, not_finite, engine_error, not_asked };
inline const std::vector<std::string> option_status_names = {"ok", "too_long", "not_finite", "engine_error",
                                                             "not_asked"};
/// Puts the answer to a query for options into `cell` of `option_status`, and into its options in `option_logprob` and,
/// where the schema has it, in `option_num_tokens`. `context`: of the block.
void fold_options(const query::Answer& answer, const results::RawSchema& schema, results::RawBlock& raw,
                  std::size_t context, std::size_t cell);
/// Reports options whose probabilities would be those of a thought's first word.
void require_closed_thought(const sweep::Job& job, base::Problems& problems);

/// A sampled text as it goes into the file and into the conversation: a zero byte, which ends a text of HDF5, stands as
/// the replacement character.
std::string kept_text(const std::string& text);

/// Puts a sampled answer into `cell` of `answer_text` and, where the schema has them, of the cubes of thoughts; gives
/// the answer behind the thought; nothing where that has no end. `tokenizer`: null where a server answers.
std::optional<std::string> keep_answer(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                       const query::GenerateAnswer& answer, const results::RawSchema& schema,
                                       results::RawBlock& raw, std::size_t cell);
/// The same of what the engine answers, with its `answer_status`; `context`: of the block.
template <class Status>
std::optional<std::string> fold_answer(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                       const query::Answer& answer, const results::RawSchema& schema,
                                       results::RawBlock& raw, std::size_t context, std::size_t cell) {
  auto& status = column_named<std::uint8_t>(raw, schema, "answer_status")[cell];
  if (has_failed<Status>(answer, status, column_named<std::string>(raw, schema, "problem")[context])) {
    return std::nullopt;
  }
  auto text = keep_answer(job, tokenizer, std::get<query::GenerateAnswer>(answer), schema, raw, cell);
  status = static_cast<std::uint8_t>(text ? Status::ok : Status::truncated_thought);
  return text;
}

/// A text in a place of a prompt: "{group}".
struct Filling {
  enum class Opening { as_it_is, capital };  ///< where it opens a sentence
  std::string_view place;
  std::string text;
  Opening opening = Opening::as_it_is;
};

/// Replaces every place, from left to right: what is put in is not searched again.
std::string filled(std::string_view text, const std::vector<Filling>& fillings);

}  // namespace stereosweep::probes
