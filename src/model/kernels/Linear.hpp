// One matrix of a layer, in the form that multiplies fastest here.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/kernels/Kernels.hpp"
#include "model/masked/MaskedSpecification.hpp"

namespace stereosweep::model {

/// Scale and shift of a norm, each [width]; root-mean-square norms have no shift.
struct Norm {
  at::Tensor weight;
  at::Tensor bias;
};

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

// Queries, keys and values of rows: what attention takes, and how they lie in a layer's product.

struct Projected {
  at::Tensor query;  ///< undefined where the product leaves it out
  at::Tensor key;
  at::Tensor value;
};

/// Views of a product [rows, query_width + 2 * key_width]; `query_width` 0: keys and values alone.
inline Projected split(const at::Tensor& product, std::int64_t query_width, std::int64_t key_width) {
  const auto keys = query_width + key_width;
  return {query_width > 0 ? product.slice(1, 0, query_width) : at::Tensor(), product.slice(1, query_width, keys),
          product.slice(1, keys, keys + key_width)};
}

}  // namespace stereosweep::model
