// Rows of several forward passes that wait for the vocabulary projection: more rows a product are better.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::engine {

/// `count` rounded up to a multiple of `unit`.
std::int64_t rounded_up(std::int64_t count, std::int64_t unit);
/// [row, column] float32 in the host's memory.
at::Tensor on_host(const at::Tensor& tensor);
/// One row of such a matrix; the matrix must outlive it.
std::span<const float> row_of(const at::Tensor& matrix, std::int64_t row);

/// First in, first out; one product has a bounded number of logits (128 MiB; 256 MiB where torch's operators read
/// them).
class ProjectionQueue {
 public:
  /// `vocabulary`: width of the logits; `kernels`: who reads them.
  ProjectionQueue(std::int64_t vocabulary, model::Kernels kernels);

  /// Appends the given rows of `hidden` [rows, width].
  void add(const at::Tensor& hidden, std::span<const std::int64_t> rows);
  std::int64_t size() const { return size_; }
  /// Whether `take` would give as many rows as a product has at most.
  bool is_full() const { return size_ >= rows_per_product_; }

  /// The oldest rows; what lies beyond `count` fills up to a round number.
  struct Rows {
    at::Tensor hidden;
    std::int64_t count = 0;
  };
  Rows take();

 private:
  std::int64_t rows_per_product_;
  std::int64_t unit_;  ///< numbers of rows are multiples of it
  std::int64_t size_ = 0;
  std::vector<at::Tensor> hidden_;  ///< together `size_` rows
};

}  // namespace stereosweep::engine
