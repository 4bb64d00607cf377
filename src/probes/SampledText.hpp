// Texts that a probe lets a causal model write: the prompts' places, how texts are drawn, and the query for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "config/yaml/Fields.hpp"
#include "query/Query.hpp"
#include "sweep/Chat.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes {

/// What the sampling of every such probe has; how many texts is the probe's own.
struct TextSampling {
  std::int64_t max_new_tokens = 0;
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
std::string messages_prompt(std::span<const sweep::Message> messages);

/// A chat template writes every control token itself.
query::Framing framing_of(const sweep::Job& job);

/// The text number `draw` after a prompt. Its seed follows from the job's and from what is asked, so that neither ranks
/// nor blocks nor other entries of the axes change a text.
query::Generate sampled_text(const sweep::Job& job, const TextSampling& sampling, const std::string& prompt,
                             std::uint64_t draw);

/// What stands between the prompt and an answer: what the chat format writes before one.
std::string answer_lead(const sweep::ChatTemplate& chat);

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
