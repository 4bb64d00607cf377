// Attention inside each sequence of a packed batch.
//   all     softmax(q k^T / sqrt(width)) v per sequence and head, in both directions
//   shapes  query [query rows, heads * width], key and value [key rows, heads * width], last stride 1
//           -> [query rows, heads * width] in the same dtype
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/kernels/Kernels.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {

/// The fastest that the device, the dtype and the width allow. `instructions`: of our own kernel.
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads, Instructions instructions = Instructions::best);

/// On any device: neighbours of equal lengths together through torch's scaled dot product. It serves devices and widths
/// that no operator for packed sequences knows.
at::Tensor attend_in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads);

}  // namespace stereosweep::model
