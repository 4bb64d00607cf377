// Products of float16 matrices on the CPU: the weight stays float16 in memory and is widened to float32 some MB at a
// time, in front of a float32 product. Sums are float32 and are rounded once, at the end.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace stereosweep::model::widened {

/// What happens to columns begin to end of the sums [rows, end - begin] float32 before they are rounded.
using Finish = std::function<at::Tensor(const at::Tensor& sums, std::int64_t begin, std::int64_t end)>;

/// finish(x W^T + b) in the dtype of `input` [rows, in]; bias [out] or undefined, `finish` null: as it is.
at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                  const Finish& finish = nullptr);

}  // namespace stereosweep::model::widened
