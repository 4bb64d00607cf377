// Queries, keys and values of rows: what attention takes, and how they lie in a layer's product.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace stereosweep::model {

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
