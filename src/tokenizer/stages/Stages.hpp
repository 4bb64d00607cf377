// What a tokenizer file does to a text before and behind its model. Every reader throws InputError naming a component
// that is not supported.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Tokenizer.hpp"
#include "tokenizer/unicode/AlignedText.hpp"

namespace stereosweep::tokenizer {

/// The "normalizer" changes the text before anything is split.
using Normalizer = std::function<void(AlignedText&)>;
Normalizer read_normalizer(const base::JsonValue& field);

/// A text and the ascending, non-empty ranges of it that are left.
struct Pieces {
  AlignedText text;
  std::vector<base::Span> ranges;
};
/// The "pre_tokenizer" cuts the normalized text into pieces that tokens never cross.
using PreTokenizer = std::function<void(Pieces&)>;
PreTokenizer read_pre_tokenizer(const base::JsonValue& field);

/// Words for models that read characters (ELMo): no vocabulary, no ids.
/// Byte spans of the words of valid UTF-8, in order. White space (Unicode's) separates words and belongs to none; each
/// punctuation character (ASCII's, or category P) is a word of its own; everything else stays as it is, case included.
std::vector<base::Span> split_words(std::string_view text);

/// White space characters and "Ġ" at both ends of a token's text.
struct OuterSpaces {
  std::uint32_t leading = 0;
  std::uint32_t trailing = 0;
};
OuterSpaces count_outer_spaces(std::string_view token);

/// One token of a text on its way to the answer.
struct Token {
  TokenId id = 0;
  base::Span offset = {};  ///< bytes of the input
  OuterSpaces spaces = {};
};
/// The "post_processor": special tokens around the text, offsets without white space.
using PostProcessor = std::function<void(std::string_view input, SpecialTokens special, std::vector<Token>& tokens)>;
PostProcessor read_post_processor(const base::JsonValue& field);

/// The "decoder" changes the texts of all tokens; joined they are the answer.
using Decoder = std::function<void(std::vector<std::string>& tokens)>;
Decoder read_decoder(const base::JsonValue& field);

/// `bytes` with each maximal part that is no valid UTF-8 replaced by U+FFFD (Unicode Standard, section 3.9).
std::string to_valid_utf8(std::string_view bytes);

}  // namespace stereosweep::tokenizer
