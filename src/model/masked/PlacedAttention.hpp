// Attention inside each sequence of a packed batch where scores depend on the places of query and key: relative
// positions (DeBERTa) and windows (ModernBERT). Torch's operators on any device, neighbours of equal lengths together.
//   shapes  query, key, value [tokens, heads * width], last stride 1 -> [tokens, heads * width] in the same dtype; rows
//           that belong to no sequence become zero
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/kernels/Segments.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "model/masked/MaskedWeights.hpp"

namespace stereosweep::model {

/// Rows of the table of positions for the distances -(length - 1) to length - 1, each [2 length - 1] int64.
struct RelativeIndex {
  at::Tensor keys;     ///< by key's place less query's: what a query adds up with
  at::Tensor queries;  ///< by query's place less key's: what a key adds up with
};

/// For texts of up to `length` tokens. The logarithmic scale is computed by the same operators as transformers'.
RelativeIndex relative_index(const RelativePositions& settings, std::int64_t length, const at::Device& device);

/// softmax((q k^T + q K^T + k Q^T) / sqrt(width * terms)) v, K and Q: the layer's `rows` at the distance of each pair,
/// terms: 1 and one for each of them. Computed in float32.
at::Tensor attend_relatively(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                             const Segments& segments, std::int64_t num_heads, const RelativeRows& rows,
                             const RelativeIndex& index);

/// softmax(q k^T / sqrt(width)) v over keys at most `reach` places away.
at::Tensor attend_within(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads, std::int64_t reach);

}  // namespace stereosweep::model
