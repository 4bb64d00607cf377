// What masked and causal plans share: texts to token ids with every check, and the tokens of an embedded span.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// What a model takes, and what it can be asked.
struct InputLimits {
  int num_layers = 0;
  std::int64_t ids = 0;         ///< rows of the word embeddings
  std::int64_t max_tokens = 0;  ///< longest sequence, special tokens included
  std::int64_t vocabulary = 0;  ///< width of the logits
  bool has_head = false;
};

/// Consecutive sequences [first, last) that make one forward pass.
struct BatchRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Who reads one row of the hidden states of a forward pass.
template <class Use>
struct RowReader {
  std::int64_t row = 0;
  std::span<const Use> uses;  ///< never empty
};

/// One reader for each run of neighbours in `uses` that have the same `place`; row: that place.
template <class Use>
std::vector<RowReader<Use>> readers_of(std::span<const Use> uses, std::int32_t Use::*place) {
  std::vector<RowReader<Use>> readers;
  while (!uses.empty()) {
    const auto other = std::ranges::find_if(uses, [&](const Use& use) { return use.*place != uses.front().*place; });
    const auto count = static_cast<std::size_t>(other - uses.begin());
    readers.push_back({uses.front().*place, uses.first(count)});
    uses = uses.subspan(count);
  }
  return readers;
}

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

inline bool overlaps(const base::Span& left, const base::Span& right) {
  return std::max(left.begin, right.begin) < std::min(left.end, right.end);
}

/// Of the pieces of a text that overlap an embed query's span, in their order, leaves those to pool. Throws InputError
/// where there are none; `noun` is what a piece is.
template <class Piece>
void keep_pooled(std::vector<Piece>& pieces, const query::Embed& asked, const std::string& noun) {
  if (pieces.empty()) {
    refuse_query("no " + noun + " overlaps the span", "bytes " + std::to_string(asked.span.begin) + " to " +
                                                          std::to_string(asked.span.end) + " of a text of " +
                                                          std::to_string(asked.text.size()));
  }
  if (asked.pool == query::Pool::first) {
    pieces.erase(pieces.begin() + 1, pieces.end());
  } else if (asked.pool == query::Pool::last) {
    pieces.erase(pieces.begin(), pieces.end() - 1);
  }
}

/// What an embed query reads: a forward input and the tokens to pool.
struct EmbedInput {
  std::vector<query::TokenId> ids;
  int layer = 0;                        ///< from 0; of no meaning for rows of the input embedding matrix
  std::vector<std::int32_t> positions;  ///< ascending; never empty
};
/// Throws as `encode_input`, and InputError for unknown layers and spans that no token overlaps. For rows of the input
/// embedding matrix texts may have any length: there is no forward pass.
EmbedInput prepare_embed(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, const InputLimits& limits);

/// Tokens whose rows of the input embedding matrix an embed query pools.
struct InputRows {
  std::vector<query::TokenId> ids;  ///< never empty
  std::uint32_t query = 0;
};

/// The answer that stands for an exception of the functions above.
query::QueryError to_query_error(const base::InputError& error);

/// What one query adds to a plan.
template <class Sequence>
struct Task {
  std::vector<Sequence> sequences;
  std::vector<query::TokenId> input_rows;  ///< as InputRows; mostly empty
  std::vector<query::TokenId> opening;     ///< the prompt of a text that will grow; mostly empty
  query::Answer answer;                    ///< with room for the numbers
};

/// The task of an embed query. `Sequence` has `ids`, `layer` and `uses`; a use is made by `vector_at(position)`.
template <class Sequence>
Task<Sequence> task_of(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, const InputLimits& limits) {
  Task<Sequence> task;
  auto input = prepare_embed(asked, tokenizer, limits);
  task.answer = query::EmbedAnswer{};
  if (asked.source == query::VectorSource::input_embedding) {
    for (const auto position : input.positions) {
      task.input_rows.push_back(input.ids[static_cast<std::size_t>(position)]);
    }
    return task;
  }
  auto& sequence = task.sequences.emplace_back();
  sequence.layer = input.layer;
  for (const auto position : input.positions) {
    sequence.uses.push_back(decltype(sequence.uses)::value_type::vector_at(position));
  }
  sequence.ids = std::move(input.ids);
  return task;
}

/// Tasks of all queries: their answers, or what is wrong with them, go into the plan with all that belongs to a query
/// alone; the sequences come back. `prepare(query)` gives a Task<Sequence> or throws InputError.
template <class Sequence, class Plan, class Prepare>
std::vector<Sequence> plan_queries(std::span<const query::Query> queries, const Prepare& prepare, Plan& plan) {
  std::vector<Sequence> sequences;
  plan.answers.reserve(queries.size());
  for (const auto& asked : queries) {
    const auto number = static_cast<std::uint32_t>(plan.answers.size());
    try {
      Task<Sequence> task = std::visit(prepare, asked);
      for (auto& sequence : task.sequences) {
        for (auto& use : sequence.uses) {
          use.query = number;
        }
        sequences.push_back(std::move(sequence));
      }
      if constexpr (requires { plan.input_rows; }) {
        if (!task.input_rows.empty()) {
          plan.input_rows.push_back({std::move(task.input_rows), number});
        }
      }
      if constexpr (requires { plan.openings; }) {
        if (!task.opening.empty()) {
          plan.openings.push_back({std::move(task.opening), number});
        }
      }
      plan.answers.push_back(std::move(task.answer));
    } catch (const base::InputError& error) {
      plan.answers.emplace_back(to_query_error(error));
    }
  }
  return sequences;
}

/// The distinct sequences, sorted, each with the uses of all that equal it, sorted.
template <class Sequence>
std::vector<Sequence> merged(std::vector<Sequence> all, bool (*comes_before)(const Sequence&, const Sequence&)) {
  std::sort(all.begin(), all.end(), comes_before);
  std::vector<Sequence> distinct;
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
  return distinct;
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
