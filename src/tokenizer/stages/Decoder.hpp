// The "decoder" of a tokenizer file: the texts of tokens -> text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/Field.hpp"

namespace stereosweep::tokenizer {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Changes the texts of all tokens; joined they are the answer.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// Throws InputError naming a component that is not supported.
std::unique_ptr<Decoder> read_decoder(const Field& field);

/// Whether a token stands for one byte: "<0x1F>".
bool is_byte_token(std::string_view token);

/// `bytes` with each maximal part that is no valid UTF-8 replaced by U+FFFD (Unicode Standard, section 3.9).
std::string to_valid_utf8(std::string_view bytes);

}  // namespace stereosweep::tokenizer
