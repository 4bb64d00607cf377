// What masked and causal plans share: texts to token ids with every check, and the tokens of an embedded span.
#pragma once

#include <cstdint>
#include <string>
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

/// A text beyond the model's positions, which callers tell apart.
class TooLong : public base::InputError {
 public:
  using InputError::InputError;
};

/// Throws InputError: a query's fault, as problem (why).
[[noreturn]] void refuse_query(const std::string& problem, const std::string& why);

/// Throws InputError unless 0 <= id < count.
void check_id(query::TokenId id, std::int64_t count);

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

}  // namespace stereosweep::engine
