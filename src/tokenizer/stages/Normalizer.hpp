// The "normalizer" of a tokenizer file: changes the text before anything is split.
#pragma once

#include <memory>

#include "tokenizer/Field.hpp"
#include "tokenizer/unicode/AlignedText.hpp"

namespace stereosweep::tokenizer {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

/// Throws InputError naming a component that is not supported.
std::unique_ptr<Normalizer> read_normalizer(const Field& field);

std::unique_ptr<Normalizer> make_precompiled(const Field& field);

}  // namespace stereosweep::tokenizer
