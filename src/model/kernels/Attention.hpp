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

/// On any device: neighbours of equal lengths together through torch's scaled dot product. On CUDA it serves float32
/// and the widths that flash attention does not know.
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

// Flash attention over packed sequences of different lengths, on devices that have it: a private operator of the pinned
// torch (at::_flash_attention_forward), kept in this one file.

/// Whether the operator takes such rows: a device that has it (of CUDA's: Ampere or newer), two-byte numbers, head
/// widths that are multiples of 8 up to 256.
bool flash_takes(const at::Tensor& query, std::int64_t num_heads);

/// Which keys of its segment a query sees: all; causal: query i of n sees all but the last n - 1 - i, of these only the
/// last `window` unless that is 0.
enum class FlashMask { none, causal };

struct FlashSegments {
  at::Tensor query_begin;  ///< [segments + 1] int32 on the device
  at::Tensor key_begin;    ///< likewise
  std::int64_t longest_query = 0;
  std::int64_t longest_key = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_key_heads = 0;
  double scale = 0;  ///< of the scores
  FlashMask mask = FlashMask::none;
  std::int64_t window = 0;
};

/// query [queries, heads * width], key and value [keys, key heads * width]. Needs flash_takes(query, num_heads).
at::Tensor flash_attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const FlashSegments& segments);

}  // namespace stereosweep::model
