// bfloat16 x bfloat16 -> float32 products on the CPU: with AMX a private operator of the pinned torch
// (cpublas::brgemm), kept in this one file; else `DotProducts`. at::linear would round its sums to bfloat16.
#pragma once

#include <ATen/core/Tensor.h>

namespace stereosweep::model::tiles {

/// Whether one of them is there and multiplies rightly on this processor (tried once), and takes this width.
bool take(std::int64_t hidden);
/// The weight [out, in] bfloat16 in the order that `multiply` reads.
at::Tensor pack(const at::Tensor& weight);
/// x W^T + b: input [rows, in] bfloat16, bias [out] float32 -> [rows, out] float32
at::Tensor multiply(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias);

}  // namespace stereosweep::model::tiles
