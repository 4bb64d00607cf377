// Attention inside each sequence of a packed batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace stereosweep::model {

/// Where the sequences of a batch lie: sequence i has the key rows [key_begin[i], key_begin[i+1]) and the query rows
/// [query_begin[i], query_begin[i+1]), which may be none.
struct Segments {
  std::vector<std::int64_t> key_begin;    ///< [sequences + 1]
  std::vector<std::int64_t> query_begin;  ///< [sequences + 1]
};

/// softmax(q k^T / sqrt(width)) v per sequence and head, in both directions.
/// query [query rows, heads * width], key and value [key rows, heads * width], last stride 1 -> [query rows, heads *
/// width]
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads);

/// The same, written plainly and computed in float64: what the fast ones are tested against.
at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads);

}  // namespace stereosweep::model
