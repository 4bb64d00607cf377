// The "post_processor" of a tokenizer file: special tokens around the text, offsets without white space.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/algorithms/Model.hpp"

namespace stereosweep::tokenizer {

/// One token of a text on its way to the answer.
struct Token {
  TokenId id = 0;
  base::Span offset;                 ///< bytes of the input
  std::uint32_t leading_spaces = 0;  ///< white space characters (or "Ġ") that the token's text starts with
  std::uint32_t trailing_spaces = 0;
};

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  virtual void apply(std::string_view input, SpecialTokens special, std::vector<Token>& tokens) const = 0;
};

/// Throws InputError naming a component that is not supported.
std::unique_ptr<PostProcessor> read_post_processor(const Field& field);

/// White space characters and "Ġ" at both ends of a token's text.
struct OuterSpaces {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;
};
OuterSpaces count_outer_spaces(std::string_view token);

}  // namespace stereosweep::tokenizer
