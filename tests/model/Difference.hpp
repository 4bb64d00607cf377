#pragma once

#include <ATen/core/Tensor.h>

namespace stereosweep::model {

/// Largest absolute difference of two tensors of one shape, in float64.
inline double difference(const at::Tensor& left, const at::Tensor& right) {
  return left.to(at::kDouble).sub(right.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace stereosweep::model
