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

/// The fastest that the device, the dtype and the width allow.
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads);

/// On any device: neighbours of equal lengths together through torch's scaled dot product. It serves devices and widths
/// that no operator for packed sequences knows.
at::Tensor attend_in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads);

// Attention on the processor for many short sequences, straight on packed rows.
// Torch's own kernel wants [batch, heads, length, width] copies and is made for long sequences: with ten tokens it
// took a fifth of a bfloat16 forward. Here one (sequence, head) pair stays in the first-level cache from its first
// read to its last write. Arithmetic is float32 throughout; bfloat16 and float16 are how numbers are stored.

/// Where one (sequence, head) pair lies. Strides count numbers, not bytes; `width` numbers of a row belong to the head.
template <class Number>
struct HeadTask {
  const Number* query;  ///< [queries, width]
  const Number* key;    ///< [keys, width]
  const Number* value;  ///< [keys, width]
  Number* out;          ///< [queries, width]
  std::int64_t query_stride;
  std::int64_t key_stride;
  std::int64_t value_stride;
  std::int64_t out_stride;
  std::int64_t num_queries;
  std::int64_t num_keys;  ///< at least 1
  std::int64_t width;
  float scale;  ///< of the scores
};

/// out = softmax(scale * query key^T) value. `scratch` holds at least scratch_numbers(keys, width) floats, 64-byte
/// aligned.
template <class Number>
void attend_one(const HeadTask<Number>& task, float* scratch, Instructions instructions = Instructions::best);
std::int64_t scratch_numbers(std::int64_t num_keys, std::int64_t width);

}  // namespace stereosweep::model
