// The "pre_tokenizer" of a tokenizer file: cuts the normalized text into pieces that tokens never cross.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/unicode/AlignedText.hpp"

namespace stereosweep::tokenizer {

/// A text and the ascending, non-empty ranges of it that are left.
struct Pieces {
  AlignedText text;
  std::vector<AlignedText::Range> ranges;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};

/// Throws InputError naming a component that is not supported.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Field& field);

/// Words for models that read characters (ELMo): no vocabulary, no ids.
/// Byte spans of the words of valid UTF-8, in order. White space (Unicode's) separates words and belongs to none; each
/// punctuation character (ASCII's, or category P) is a word of its own; everything else stays as it is, case included.
std::vector<base::Span> split_words(std::string_view text);

}  // namespace stereosweep::tokenizer
