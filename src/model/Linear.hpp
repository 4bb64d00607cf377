// One matrix of a layer, in the form that multiplies fastest here.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/CheckpointConfig.hpp"

namespace stereosweep::model {

/// How products are done: prepacked where the processor and torch can, or always plainly (at::linear).
enum class Products { fastest, plain };

/// y = x W^T + b. Weight [out, in], bias [out] or undefined (none), both in the model's dtype and on its device.
class Linear {
 public:
  Linear() = default;
  Linear(at::Tensor weight, at::Tensor bias, Products products = Products::fastest);
  /// [rows, in] -> [rows, out]
  at::Tensor apply(const at::Tensor& input) const;
  /// activation(apply(input))
  at::Tensor apply_activated(const at::Tensor& input, Activation activation) const;
  /// apply(input) + residual
  at::Tensor apply_and_add(const at::Tensor& input, const at::Tensor& residual) const;

 private:
  enum class Form { plain, onednn, mkl, widened };
  at::Tensor weight_;
  at::Tensor bias_;
  std::int64_t out_ = 0;
  Form form_ = Form::plain;
};

at::Tensor activate(const at::Tensor& input, Activation activation);

}  // namespace stereosweep::model
