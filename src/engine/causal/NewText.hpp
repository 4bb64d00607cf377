// What a generate query has got so far, and whether that is all.
#pragma once

#include <cstddef>
#include <span>

#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Grows by a token at a time. Everything is borrowed.
class NewText {
 public:
  NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
          std::span<const query::TokenId> end_tokens);

  /// Takes the next token and its log-probability (nat); not after the end.
  void add(query::TokenId id, double logprob);
  /// After an end token, a stop string or max_new_tokens.
  bool is_finished() const { return is_finished_; }
  std::size_t size() const { return answer_.ids.size(); }
  std::span<const query::TokenId> ids() const { return answer_.ids; }
  /// `ids`: all new tokens but the end token; with a stop string up to the token that completes it. `text`: what they
  /// decode to, special tokens left out, up to the first stop string. A character that is not complete reads as the
  /// tokenizer's decoder writes it.
  query::GenerateAnswer take();

 private:
  const query::Generate* asked_;
  const tokenizer::Tokenizer* tokenizer_;
  std::span<const query::TokenId> end_tokens_;
  query::GenerateAnswer answer_;
  double logprobs_ = 0;  ///< sum over the tokens that were drawn
  std::size_t drawn_ = 0;
  bool has_text_ = false;
  bool is_finished_ = false;
};

}  // namespace stereosweep::engine
