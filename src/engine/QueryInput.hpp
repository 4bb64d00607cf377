// What masked and causal plans share: texts to token ids with every check, and the tokens of an embedded span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// What may go into a model.
struct InputLimits {
  int num_layers = 0;
  std::int64_t ids = 0;         ///< rows of the word embeddings
  std::int64_t max_tokens = 0;  ///< longest sequence, special tokens included
};

/// Consecutive sequences [first, last) that make one forward pass.
struct BatchRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// A text beyond the model's positions, which callers tell apart.
class TooLong : public base::InputError {
 public:
  using InputError::InputError;
};

/// Throws InputError: a query's fault, as problem (why).
[[noreturn]] void refuse_query(const std::string& problem, const std::string& why);

/// Throws InputError unless 0 <= id < count.
void check_id(query::TokenId id, std::int64_t count);

/// Number of the hidden state that is asked for, from 0. Throws InputError where the model has none of this number.
int hidden_state_of(const query::Embed& asked, int num_layers);

/// What the tokenizer adds to a prompt.
tokenizer::SpecialTokens special_tokens_of(query::Framing framing);

/// Ids of a text. Throws TooLong, or InputError for invalid UTF-8 and ids without a row
/// in the embeddings.
tokenizer::Encoding encode_input(const std::string& text, const tokenizer::Tokenizer& tokenizer,
                                 tokenizer::SpecialTokens special, const InputLimits& limits);
/// The checks of `encode_input` on ids that are known.
void check_input(const std::vector<query::TokenId>& ids, const InputLimits& limits);

/// The forward input of an embed query and the tokens to pool.
struct EmbedInput {
  std::vector<query::TokenId> ids;
  int layer = 0;                        ///< from 0
  std::vector<std::int32_t> positions;  ///< ascending; never empty
};
/// Throws as `encode_input`, and InputError for unknown layers and spans that no token overlaps.
EmbedInput prepare_embed(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, const InputLimits& limits);

/// What an embed query reads of the input embedding matrix: no forward pass.
struct InputRows {
  std::vector<query::TokenId> ids;  ///< of the tokens to pool; never empty
  std::uint32_t query = 0;
};
/// Throws as `prepare_embed`, but takes texts of any length.
InputRows prepare_input_rows(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer,
                             const InputLimits& limits);

/// The answer that stands for an exception of the functions above.
query::QueryError to_query_error(const base::InputError& error);

// Where a continuation begins among the tokens of prompt and continuation together.
//   rule   trailing white space of the prompt moves to the continuation; the joint text is tokenized once, with the
//          default special tokens (none where the prompt has written its own); the continuation begins where the ids of
//          the prompt and the joint ids first differ

/// Bytes of `text` that Python's str.rstrip leaves. Stops at bytes that are no valid UTF-8.
std::size_t size_without_trailing_space(std::string_view text);

struct JointIds {
  std::vector<query::TokenId> ids;
  std::size_t begin = 0;  ///< first token of the continuation, at least 1
};

/// One prompt, to which continuations are joined. `prompt` and `tokenizer` must outlive it.
class ContinuationBorder {
 public:
  /// Throws InputError for invalid UTF-8.
  ContinuationBorder(std::string_view prompt, const tokenizer::Tokenizer& tokenizer, query::Framing framing);
  /// Throws InputError for invalid UTF-8, for a continuation without a token, and for one with nothing before it
  /// (empty prompt, no token that starts texts): its first token has no probability.
  JointIds join(std::string_view continuation) const;

 private:
  const tokenizer::Tokenizer& tokenizer_;
  tokenizer::SpecialTokens special_;
  std::string_view prompt_;
  std::vector<query::TokenId> ids_;  ///< of the prompt without its trailing white space
};

}  // namespace stereosweep::engine
