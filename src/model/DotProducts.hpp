// bfloat16 x bfloat16 -> float32 products of one tile with AVX-512's instruction for them (vdpbf16ps), for processors
// that have it and no AMX. It adds pairs of products without rounding in between and takes denormal numbers as zero.
#pragma once

#include <cstdint>

#include "model/AttentionKernel.hpp"  // Bfloat16Bits

namespace stereosweep::model::dots {

constexpr std::int64_t columns = 64;  ///< of the answer, per tile

/// Whether this processor has the instruction.
bool present();
/// `count` <= columns rows of a weight [count, width] -> [width / 2, columns, 2]; absent columns become zero. `width`
/// is even.
void pack(const Bfloat16Bits* weight, std::int64_t count, std::int64_t width, Bfloat16Bits* packed);
/// sums [rows, columns] = input [rows, width] times the packed tile.
void multiply(const Bfloat16Bits* input, std::int64_t rows, std::int64_t width, const Bfloat16Bits* packed,
              float* sums);

}  // namespace stereosweep::model::dots
