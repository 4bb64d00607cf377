// bfloat16 x bfloat16 -> float32 products on the CPU: with AMX a private operator of the pinned torch
// (cpublas::brgemm), kept in this one file; else the namespace `dots`. at::linear would round its sums to bfloat16.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/kernels/Attention.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

namespace tiles {

/// Whether one of them is there and multiplies rightly on this processor (tried once), and takes this width.
bool take(std::int64_t hidden);
/// The weight [out, in] bfloat16 in the order that `multiply` reads.
at::Tensor pack(const at::Tensor& weight);
/// x W^T + b: input [rows, in] bfloat16, bias [out] float32 -> [rows, out] float32
at::Tensor multiply(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias);

/// Whether `multiply_rounded` is faster than oneDNN's products of few rows: on a Zen 4 it reaches 212 to 221 GFLOP/s
/// with 64 rows, oneDNN 179 to 199, and both 207 to 220 with 512.
bool take_rounded(std::int64_t hidden);
/// x W^T + b + residual, rounded once: residual [rows, out] bfloat16 or undefined -> [rows, out] bfloat16
at::Tensor multiply_rounded(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                            const at::Tensor& residual);

}  // namespace tiles

// bfloat16 x bfloat16 -> float32 products of one tile with AVX-512's instruction for them (vdpbf16ps), for processors
// that have it and no AMX. It adds pairs of products without rounding in between and takes denormal numbers as zero.

namespace dots {

constexpr std::int64_t columns = 64;    ///< of the answer, per tile
constexpr std::int64_t best_rows = 96;  ///< of a tile: their numbers stay in the cache with the weight

/// Whether this processor has the instruction.
bool present();
/// `count` <= columns rows of a weight [count, width] -> [width / 2, columns, 2]; absent columns become zero. `width`
/// is even.
void pack(const Bfloat16Bits* weight, std::int64_t count, std::int64_t width, Bfloat16Bits* packed);
/// sums [rows, columns] = input [rows, width] times the packed tile. `next`: the tile that is multiplied with next, or
/// null.
void multiply(const Bfloat16Bits* input, std::int64_t rows, std::int64_t width, const Bfloat16Bits* packed, float* sums,
              const Bfloat16Bits* next = nullptr);

}  // namespace dots

}  // namespace stereosweep::model
