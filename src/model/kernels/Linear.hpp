// One matrix of a layer, or the vocabulary's, in the form that multiplies fastest here.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

/// Scale and shift of a norm, each [width]; root-mean-square norms have no shift.
struct Norm {
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor factor = {};  ///< what torch's operators multiply by, made once (see LayerKernels); undefined: not yet
};

/// How products are done: prepacked where the processor and torch can; so that products of ten to a hundred rows are
/// fast, too; or always plainly (at::linear).
enum class Products { fastest, few_rows, plain };

/// y = x W^T + b. Weight [out, in], bias [out] or undefined (none), both in the model's dtype and on its device.
class Linear {
 public:
  Linear() = default;
  Linear(at::Tensor weight, at::Tensor bias, Products products = Products::fastest);
  /// [rows, in] -> [rows, out]
  at::Tensor apply(const at::Tensor& input) const;
  /// apply(input) cut into halves of the columns, one behind the other: [2, rows, out / 2]. Torch's operators read and
  /// write halves that lie apart faster than columns of a wider matrix.
  at::Tensor apply_in_halves(const at::Tensor& input) const;
  /// activation(apply(input))
  at::Tensor apply_activated(const at::Tensor& input, Activation activation) const;
  /// apply(input) + residual. Torch's operators put the sum where the residual was: it must not be read afterwards.
  at::Tensor apply_and_add(const at::Tensor& input, const at::Tensor& residual) const;
  const at::Tensor& weight() const { return weight_; }  ///< as it was given, where torch's operators multiply
  const at::Tensor& bias() const { return bias_; }      ///< likewise

 private:
  enum class Form { plain, onednn, mkl, tiles, widened, operators };
  at::Tensor weight_;  ///< packed as `form_` says
  at::Tensor bias_;    ///< with tiles float32
  at::Tensor turned_;  ///< operators: views of the weight as products take it, [in, out] and
  at::Tensor halves_;  ///< [2, in, out / 2]
  std::int64_t out_ = 0;
  Form form_ = Form::plain;
};

at::Tensor activate(const at::Tensor& input, Activation activation);

// The projection onto the vocabulary. Its sums and its answers are float32 in every mode: bfloat16 logits of size 10
// would be 0.03 nat apart, float16 ones 0.004.

/// logits = x W^T + b. In bfloat16 and float16 mode the operands are 16 bits wide (x is rounded), nothing else is.
/// On a device such a weight gets rows of zeros up to a multiple of 8: CUDA's products are slow where the rows of what
/// they put out do not begin at multiples of 16 bytes. The columns of these rows are no part of the logits.
class OutputProjection {
 public:
  OutputProjection() = default;
  /// weight [vocabulary, hidden] in the model's dtype, bias [vocabulary] float32, on the same device; undefined: none,
  /// which only torch's operators take.
  OutputProjection(const at::Tensor& weight, at::Tensor bias, Products products = Products::fastest);
  /// [rows, hidden] float32 -> [rows, vocabulary] float32: stride(1) is 1, stride(0) may exceed the vocabulary. A
  /// product with a hundred rows or more is fastest.
  at::Tensor apply(const at::Tensor& input) const;
  /// Puts the projection's own memory in the place of `words`, the matrix that it was made of, so that a device holds
  /// the numbers once; where the projection holds them in another form, nothing changes.
  void share(at::Tensor& words) const;
  const at::Tensor& bias() const { return bias_; }

 private:
  enum class Form { float32, tiles, rounded_operands };
  at::Tensor weight_;  ///< or its tiles; on a device with rows of zeros below
  std::int64_t vocabulary_ = 0;
  at::Tensor bias_;
  Linear linear_;  ///< float32
  Form form_ = Form::float32;
};

// Queries, keys and values of rows: what attention takes, and how they lie in a layer's product.

struct Projected {
  at::Tensor query;  ///< undefined where the product leaves it out
  at::Tensor key;
  at::Tensor value;
  at::Tensor query_and_key;  ///< both where they lie beside each other; undefined otherwise
  /// What turns by position: queries, keys, or both.
  const at::Tensor& turning() const { return query_and_key.defined() ? query_and_key : query.defined() ? query : key; }
};

/// Views of a product [rows, query_width + 2 * key_width]; `query_width` 0: keys and values alone.
inline Projected split(const at::Tensor& product, std::int64_t query_width, std::int64_t key_width) {
  const auto columns = [&](std::int64_t first, std::int64_t count) {  // as_strided costs the host half of a slice
    return product.as_strided({product.size(0), count}, product.strides(), product.storage_offset() + first);
  };
  const auto keys = query_width + key_width;
  const bool has_query = query_width > 0;
  return {has_query ? columns(0, query_width) : at::Tensor(), columns(query_width, key_width), columns(keys, key_width),
          has_query ? columns(0, keys) : at::Tensor()};
}

}  // namespace stereosweep::model
