// What masked and causal plans share: texts to token ids with every check, and the tokens of an embedded span.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "model/kernels/Kernels.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Consecutive sequences [first, last) that make one forward pass.
struct BatchRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// One reason to read one row of a sequence.
struct Use {
  std::int32_t position = 0;  ///< token of the sequence
  query::TokenId token = 0;   ///< of a continuation: whose log-probability is wanted after it; `whole_vector` for embed
  std::uint32_t query = 0;
  std::uint32_t part = 0;   ///< slot of a fill, or number of a continuation
  std::uint32_t place = 0;  ///< token of the continuation

  static constexpr query::TokenId whole_vector = -1;
  bool is_vector() const { return token == whole_vector; }
  auto operator<=>(const Use&) const = default;
};

/// A use and the row of the logits that answers it.
using UseAtRow = std::pair<std::int64_t, const Use*>;

/// One distinct forward input.
struct Sequence {
  std::vector<query::TokenId> ids;  ///< what runs: a continuation's last token does not
  int layer = 0;                    ///< hidden state that is read, from 0
  std::vector<Use> uses;            ///< sorted
  std::size_t shared = 0;  ///< causal: tokens at its beginning that the sequence before it in the plan has, too
};

/// Tokens that belong to one query alone.
struct QueryTokens {
  std::vector<query::TokenId> ids;  ///< never empty
  std::uint32_t query = 0;
};

/// What queries are turned into before a model is asked.
struct InputPlan {
  std::vector<query::Answer> answers;  ///< errors, and answers with room for their numbers
  std::vector<Sequence> sequences;
  std::vector<QueryTokens> openings;    ///< prompts of texts that will grow, in the order of the queries
  std::vector<QueryTokens> input_rows;  ///< whose rows of the input embedding matrix are pooled, likewise
  std::uint64_t naive_tokens = 0;       ///< causal: of a forward pass for every continuation and embed query

  /// Of the query that is being planned.
  std::uint32_t query() const { return static_cast<std::uint32_t>(answers.size()); }
};

/// Who reads one row of the hidden states of a forward pass.
struct RowReader {
  std::int64_t row = 0;
  std::span<const Use> uses;  ///< never empty
};

/// One forward pass.
template <class Input>
struct ForwardBatch {
  Input input = {};
  int layer = 0;                        ///< hidden state that is read
  std::vector<std::int64_t> rows = {};  ///< that come out: sorted, distinct
  std::vector<RowReader> readers = {};  ///< by row of these; the sequences must outlive them

  /// The next rows are those that the sequence reads; row_of(position): where its token is in the input.
  void read(const Sequence& sequence, const auto& row_of) {
    layer = sequence.layer;
    std::size_t count = 0;
    for (std::span<const Use> left = sequence.uses; !left.empty(); left = left.subspan(count)) {
      const auto position = left.front().position;
      const auto other = std::ranges::find_if(left, [&](const Use& use) { return use.position != position; });
      count = static_cast<std::size_t>(other - left.begin());
      readers.push_back({std::ssize(rows), left.first(count)});
      rows.push_back(row_of(position));
    }
  }
};

/// A text beyond the model's positions, which callers tell apart.
class TooLong : public base::InputError {
 public:
  using InputError::InputError;
};

/// Throws InputError unless 0 <= id < count.
void check_id(query::TokenId id, std::int64_t count);

/// Number of the hidden state that is asked for, from 0. Throws InputError where the model has none of this number.
int hidden_state_of(const query::Embed& asked, int num_layers);

/// What the tokenizer adds to a prompt.
tokenizer::SpecialTokens special_tokens_of(query::Framing framing);

/// Ids of a text. Throws TooLong, or InputError for invalid UTF-8 and ids without a row
/// in the embeddings.
tokenizer::Encoding encode_input(const std::string& text, const tokenizer::Tokenizer& tokenizer,
                                 tokenizer::SpecialTokens special, const model::ModelShape& shape);
/// The checks of `encode_input` on ids that are known.
void check_input(const std::vector<query::TokenId>& ids, const model::ModelShape& shape);

inline bool overlaps(const base::Span& left, const base::Span& right) {
  return std::max(left.begin, right.begin) < std::min(left.end, right.end);
}

/// Of the pieces of a text that overlap an embed query's span, in their order, leaves those to pool. Throws InputError
/// where there are none; `noun` is what a piece is.
template <class Piece>
void keep_pooled(std::vector<Piece>& pieces, const query::Embed& asked, const std::string& noun) {
  if (pieces.empty()) {
    base::refuse("no " + noun + " overlaps the span", "bytes " + std::to_string(asked.span.begin) + " to " +
                                                          std::to_string(asked.span.end) + " of a text of " +
                                                          std::to_string(asked.text.size()));
  }
  if (asked.pool == query::Pool::first) {
    pieces.erase(pieces.begin() + 1, pieces.end());
  } else if (asked.pool == query::Pool::last) {
    pieces.erase(pieces.begin(), pieces.end() - 1);
  }
}

/// Adds what an embed query reads to the plan: a forward input with a use for each token to pool. Throws as
/// `encode_input`, and InputError for unknown layers and spans that no token overlaps. For rows of the input embedding
/// matrix texts may have any length, and the layer has no meaning: there is no forward pass.
query::Answer plan_vector(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer,
                          const model::ModelShape& shape, InputPlan& plan);

/// The answer that stands for an exception of the functions above.
query::QueryError to_query_error(const base::InputError& error);

/// The answers of all queries: what prepare(query) gives, which adds to the sequences, or why it throws InputError;
/// then its sequences go.
template <class AnySequence>
void plan_queries(std::span<const query::Query> queries, const auto& prepare, std::vector<query::Answer>& answers,
                  std::vector<AnySequence>& sequences) {
  answers.reserve(queries.size());
  for (const auto& asked : queries) {
    const auto before = sequences.size();
    try {
      answers.push_back(std::visit(prepare, asked));
    } catch (const base::InputError& error) {
      sequences.resize(before);
      answers.emplace_back(to_query_error(error));
    }
  }
}

/// Leaves the distinct sequences, sorted, each with the uses of all that equal it, sorted.
template <class AnySequence>
void merge(std::vector<AnySequence>& all, bool (*comes_before)(const AnySequence&, const AnySequence&)) {
  std::sort(all.begin(), all.end(), comes_before);
  std::vector<AnySequence> distinct;
  for (auto& next : all) {
    if (distinct.empty() || comes_before(distinct.back(), next)) {
      distinct.push_back(std::move(next));
    } else {
      distinct.back().uses.insert(distinct.back().uses.end(), next.uses.begin(), next.uses.end());
    }
  }
  for (auto& sequence : distinct) {
    std::sort(sequence.uses.begin(), sequence.uses.end());
  }
  all = std::move(distinct);
}

// Where a continuation begins among the tokens of prompt and continuation together.
//   rule   trailing white space of the prompt moves to the continuation; the joint text is tokenized once, with the
//          default special tokens (none where the prompt has written its own); the continuation begins where the ids of
//          the prompt and the joint ids first differ

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
