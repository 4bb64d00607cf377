// What an engine can be asked, and what it answers. Plain values: no tensor, no group.
// Log-probabilities are natural logarithms (nat) over the whole width of the logits.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::query {

using TokenId = std::int32_t;
/// Of a token that a server has counted and not named.
inline constexpr TokenId unknown_token = -1;

/// One mask token of a text, in text order: what stands there, and whose numbers are wanted.
struct MaskSlot {
  std::optional<TokenId> filled;  ///< put there instead of the mask (words of several subwords, left to right)
  std::vector<TokenId> targets;   ///< vocabulary ids; empty: nothing is asked at this slot
};

/// Numbers at mask positions of a masked model.
struct Fill {
  std::string text;             ///< with the model's own mask token; white space as it stands
  std::vector<MaskSlot> slots;  ///< one per mask token of the text
  bool class_masses = false;    ///< ILPS*: masses of word-initial and continuation tokens
  bool set_distances = false;   ///< SeT: distance to the decoder that ranks the target first by a margin of 1
};

/// Who puts the control tokens around a prompt: the tokenizer as it always does, or the prompt's own text (a chat
/// template wrote them, "<s>" included), so that nothing is added and no BOS doubled. messages: the prompt is a JSON
/// list of {"role", "content"}, and the server that is asked writes it in its own way.
enum class Framing { tokenizer, written, messages };

/// Log-probability of each continuation of a prompt (causal models).
struct Continue {
  std::string prompt;
  std::vector<std::string> continuations;
  Framing framing = Framing::tokenizer;
};

enum class Pool { mean, first, last };

/// Where the vectors of tokens come from. hidden_state: the model runs over the text. input_embedding: the tokens' rows
/// of the model's input embedding matrix (transformers' get_input_embeddings().weight) as they are stored: no position,
/// no norm, no scale, nothing of the text around but how it is cut into tokens. No forward pass, and no longest text.
/// ELMo has no such matrix: its words' own vectors, made of their characters. sum_of_states: the sum of all hidden
/// states, 0 included (guo2021's code takes it of ELMo, and only ELMo answers it); in JSON "layer":"sum".
enum class VectorSource { hidden_state, input_embedding, sum_of_states };

/// Vector of the tokens that overlap a byte span. The static vector of a word: the word (with the blank before it,
/// where a tokenizer tells apart) as text, its bytes as span, and `source` input_embedding; in JSON "layer":"input".
struct Embed {
  std::string text;
  base::Span span;
  int layer = -1;  ///< as transformers' hidden_states: 0 = embeddings' output, -1 = last; hidden states only
  Pool pool = Pool::mean;
  VectorSource source = VectorSource::hidden_state;
};

/// Bounds of what a model thinks before it answers: a text that is still in its thought after `tokens` tokens goes on
/// with `closing_text`, as if it had drawn that, and then with its answer. A text that does not begin with `opening` is
/// all answer.
struct ThoughtLimit {
  std::int32_t tokens = 0;
  std::int32_t answer_tokens = 0;  ///< at most, behind the thought
  std::string opening;             ///< empty: every text begins inside of a thought
  std::string closing;
  std::string closing_text;  ///< holds `closing`
  auto operator<=>(const ThoughtLimit&) const = default;
};

/// Text sampled after a prompt (causal models).
struct Generate {
  std::string prompt;
  std::int32_t max_new_tokens = 0;  ///< with a thought's limits: of all (see limit_thought)
  double temperature = 0;           ///< 0: greedy
  std::int32_t top_k = 0;           ///< 0: all
  double top_p = 1;
  std::uint64_t seed = 0;
  std::vector<std::string> stop;
  Framing framing = Framing::tokenizer;
  /// Before temperature, logits of the ids that prompt and new text hold are divided by it where positive and
  /// multiplied where not (Keskar et al. 2019 §4.1, as transformers writes it); from 0.01 to 100.
  double repetition_penalty = 1;
  std::optional<ThoughtLimit> thought = std::nullopt;
};

using Query = std::variant<Fill, Continue, Embed, Generate>;

/// Why a SeT distance is what it is.
enum class SetStatus : std::uint8_t {
  ok = 0,
  leads = 1,          ///< the target already leads by the margin: distance 0
  not_certified = 2,  ///< no exact answer could be certified: the value is NaN
};

/// Least change of the decoder (Frobenius norm, published code's convention) that makes a target win by margin 1
/// (cao2022 §3.3; closed form: the top-k prefix rule). `bias`: the decoder's bias is one more column.
struct SetDistance {
  double distance_bias = 0;      ///< hidden vector extended by 1, bias may move
  double distance_plain = 0;     ///< bias fixed and left out of the logits
  std::int32_t active_bias = 0;  ///< k: competitors that move
  std::int32_t active_plain = 0;
  double threshold_bias = 0;  ///< logit to which the active ones are cut
  double threshold_plain = 0;
  SetStatus status_bias = SetStatus::ok;
  SetStatus status_plain = SetStatus::ok;
};

/// Answers at one slot; vectors run parallel to MaskSlot::targets.
struct SlotAnswer {
  std::vector<double> logprob;       ///< nat
  double log_mass_initial = 0;       ///< ln of the probability of all word-initial tokens; with class_masses
  double log_mass_continuation = 0;  ///< ln of the probability of all continuation tokens
  std::vector<SetDistance> set;      ///< with set_distances
};

struct FillAnswer {
  std::vector<SlotAnswer> slots;  ///< parallel to Fill::slots
};

struct ContinueAnswer {
  std::vector<std::vector<double>> logprob;  ///< [continuation][token], nat
};

struct EmbedAnswer {
  std::vector<float> vector;
};

/// What ended a sampled text.
enum class Ending : std::uint8_t { end_token, stop, length };

struct GenerateAnswer {
  std::string text;
  std::vector<TokenId> ids;
  /// Mean over the drawn tokens, an end token included, of their log-probability under the model's own softmax (no
  /// temperature, no penalty, nothing cut), nat; NaN where none was drawn.
  double mean_logprob = std::numeric_limits<double>::quiet_NaN();
  Ending ended = Ending::length;
  bool closed_thought = false;  ///< the thought came to its limit
};

/// What a probe must tell apart: a text beyond the model's positions is data, anything else a mistake.
enum class QueryFault : std::uint8_t { other, too_long };

/// The query itself is at fault (too long, wrong ids, unknown layer); the others of the batch are not touched.
struct QueryError {
  std::string message;  ///< problem (why) suggestion?
  QueryFault fault = QueryFault::other;
};

using Answer = std::variant<FillAnswer, ContinueAnswer, EmbedAnswer, GenerateAnswer, QueryError>;

}  // namespace stereosweep::query
