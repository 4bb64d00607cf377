// Blocks of few bits -> numbers, to the last bit as the format's own reader does it: no product is fused with a sum.
// (source: github.com/ggml-org/ggml, ggml-quants.c)
#pragma once

#include <cstddef>

#include "base/files/gguf/Gguf.hpp"

namespace stereosweep::model {

/// The most numbers of a block.
constexpr std::size_t max_block = 256;

/// Writes the type.numbers numbers of one block of type.bytes bytes.
void decode_block(const base::GgufType& type, const std::byte* block, float* out);

}  // namespace stereosweep::model
