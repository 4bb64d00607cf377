// The "pre_tokenizer" of a tokenizer file: cuts the normalized text into pieces that tokens never cross.
#pragma once

#include <memory>
#include <vector>

#include "tokenizer/AlignedText.hpp"
#include "tokenizer/Field.hpp"

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

}  // namespace stereosweep::tokenizer
