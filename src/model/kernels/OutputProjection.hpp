// The projection onto the vocabulary. Its sums and its answers are float32 in every mode: bfloat16 logits of size 10
// would be 0.03 nat apart, float16 ones 0.004.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/kernels/Linear.hpp"

namespace stereosweep::model {

/// logits = x W^T + b. In bfloat16 and float16 mode the operands are 16 bits wide (x is rounded), nothing else is.
class OutputProjection {
 public:
  OutputProjection() = default;
  /// weight [vocabulary, hidden] in the model's dtype, bias [vocabulary] float32, on the same device.
  OutputProjection(const at::Tensor& weight, at::Tensor bias, Products products = Products::fastest);
  /// [rows, hidden] float32 -> [rows, vocabulary] float32. A product with a hundred rows or more is fastest.
  at::Tensor apply(const at::Tensor& input) const;
  const at::Tensor& bias() const { return bias_; }

 private:
  enum class Form { float32, tiles, rounded_operands };
  at::Tensor weight_;  ///< or its tiles
  at::Tensor bias_;
  Linear linear_;  ///< float32
  Form form_ = Form::float32;
};

}  // namespace stereosweep::model
