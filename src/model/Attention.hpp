// Attention inside each sequence of a packed batch.
//   all     softmax(q k^T / sqrt(width)) v per sequence and head, in both directions
//   shapes  query [query rows, heads * width], key and value [key rows, heads * width], last stride 1
//           -> [query rows, heads * width] in the same dtype
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/Segments.hpp"

namespace stereosweep::model {

/// The fastest that the device, the dtype and the width allow.
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads);

/// On the CPU: our own kernel, straight on the packed rows.
at::Tensor attend_on_cpu(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads);

/// On any device: neighbours of equal lengths together through torch's scaled dot product. On CUDA it serves float32
/// and the widths that flash attention does not know.
at::Tensor attend_in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads);

/// Written plainly and computed in float64: what the fast ones are tested against.
at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads);

}  // namespace stereosweep::model
