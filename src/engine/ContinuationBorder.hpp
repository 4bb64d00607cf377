// Where a continuation begins among the tokens of prompt and continuation together.
//   rule   trailing white space of the prompt moves to the continuation; the joint text is tokenized once, with the
//          default special tokens (none where the prompt has written its own); the continuation begins where the ids of
//          the prompt and the joint ids first differ
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "query/Query.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

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
