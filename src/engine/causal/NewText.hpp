// What a generate query has got so far, and whether that is all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Grows by a token at a time. Stop strings are looked for in the answer, not in the thought before it. Everything is
/// borrowed.
class NewText {
 public:
  NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
          std::span<const query::TokenId> end_tokens);

  /// What stands next whatever the model says: of the text that closes a thought. Nothing: a token is drawn.
  std::optional<query::TokenId> given() const;
  /// Takes the next token, what is given or drawn, and a drawn one's log-probability (nat); not after the end.
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
  /// not_known: too short to tell whether it begins with a thought.
  enum class Part { not_known, thought, closing, answer };
  void follow_thought();
  void look_for_stop();

  const query::Generate* asked_;
  const tokenizer::Tokenizer* tokenizer_;
  std::span<const query::TokenId> end_tokens_;
  query::GenerateAnswer answer_;
  double logprobs_ = 0;  ///< sum over the tokens that were drawn
  std::size_t drawn_ = 0;
  Part part_ = Part::answer;
  std::size_t answer_begin_ = 0;             ///< tokens before the answer
  std::vector<query::TokenId> closing_ids_;  ///< once the thought has come to its limit
  std::size_t closed_ = 0;                   ///< of these
  bool is_finished_ = false;
};

}  // namespace stereosweep::engine
