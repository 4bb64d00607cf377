// Texts that a probe lets a causal model write: the prompts' places, how texts are drawn, and the query for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/files/Sha256.hpp"
#include "chat/ChatTemplate.hpp"
#include "chat/Writing.hpp"
#include "config/yaml/Fields.hpp"
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

/// Contexts whose questions are written before a run, so that one which the chat template writes otherwise is refused.
constexpr std::uint64_t max_contexts_checked = 2'000;

/// Whether a result keeps what a model thinks before it answers, in cubes and statuses of their own; and whether
/// thoughts that became too long were closed.
enum class Thoughts { none, kept, closed };
Thoughts thoughts_of(const sweep::Job& job, const TextSampling& sampling);
constexpr const char* truncated_thought_name = "truncated_thought";
/// `answer_thought` and `answer_num_thought_tokens`, over the axes of answers, and `answer_thought_end` where some are
/// closed.
void add_thought_cubes(results::RawSchema& schema, const std::vector<std::string>& inner_axes, Thoughts thoughts);
/// Reports limits of thoughts that cannot be kept.
void require_limited_thoughts(const sweep::Job& job, const TextSampling& sampling, base::Problems& problems);
/// New tokens of the answer up to the end of its thought; 0 where no tokenizer can tell (a server answers).
std::int32_t num_thought_tokens(const sweep::Job& job, const tokenizer::Tokenizer* tokenizer,
                                const query::GenerateAnswer& answer, const chat::SplitAnswer& split);
/// How thoughts are told from answers, for a block's key; nothing where they are not.
void hash_thoughts(const sweep::Job& job, const TextSampling& sampling, base::Sha256& hash);

/// Reports options whose probabilities would be those of a thought's first word.
void require_closed_thought(const sweep::Job& job, base::Problems& problems);

/// A sampled text as it goes into the file and into the conversation: a zero byte, which ends a text of HDF5, stands as
/// the replacement character.
std::string kept_text(const std::string& text);

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
