// Float32 products with weights prepacked by MKL: private operators of the pinned torch
// (mkl::_mkl_reorder_linear_weight and mkl::_mkl_linear), kept in this one file. Measured on a Sapphire Rapids: 4 to
// 10 % faster than oneDNN's float32 products from 64 rows on, GELU in a pass of its own included.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace stereosweep::model::mkl {

/// Whether the processor is Intel's and the operators exist and multiply rightly with weights of this shape (tried once
/// per shape).
bool works(const at::Tensor& weight);
/// The float32 weight [out, in] in the library's own order; readable by the function below only.
at::Tensor pack(const at::Tensor& weight);
/// x W^T + b; input [rows, in] -> [rows, out]; bias [out] or undefined: none
at::Tensor linear(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias, std::int64_t out);

}  // namespace stereosweep::model::mkl
