// Turning of queries and keys by their position.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "model/AttentionKernel.hpp"  // Instructions
#include "model/CausalSpecification.hpp"

namespace stereosweep::model {

/// Cosine and sine of position * inverse frequency, times the rotary's scaling: each [positions, width / 2] float32,
/// made on the CPU.
struct Turns {
  at::Tensor cosines;
  at::Tensor sines;
};
Turns turns_of(const Rotary& rotary, std::int64_t positions);

/// Turns the first rotary.width numbers of every head of `rows` [rows, heads * width] in place; row i stands at
/// positions[i], a row of `turns`. Rows without a position stay.
void rotate_on_cpu(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const Turns& turns,
                   std::span<const std::int32_t> positions, Instructions instructions = Instructions::best);
/// The same on any device, with turns already picked by row, on the rows' device.
void rotate_with_operators(const at::Tensor& rows, std::int64_t heads, const Rotary& rotary, const Turns& picked);

}  // namespace stereosweep::model
