// Flash attention over packed sequences of different lengths, on CUDA: a private operator of the pinned torch
// (at::_flash_attention_forward), kept in this one file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/Segments.hpp"

namespace stereosweep::model {

/// Whether the operator takes such rows: CUDA (Ampere or newer), two-byte numbers, head widths that are multiples of 8
/// up to 256.
bool flash_takes(const at::Tensor& query, std::int64_t num_heads);

/// As `attend`. Needs flash_takes(query, num_heads) and the segments' device tensors.
at::Tensor flash_attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const Segments& segments, std::int64_t num_heads);

/// Causal attention of many segments, each over keys of its own: query i of n sees all keys but the last n - 1 - i, of
/// these only the last `window` unless that is 0.
struct FlashPaths {
  at::Tensor query_begin;  ///< [segments + 1] int32 on the device
  at::Tensor key_begin;    ///< likewise; no segment is empty
  std::int64_t longest_query = 0;
  std::int64_t longest_key = 0;
  std::int64_t num_heads = 0;
  std::int64_t num_key_heads = 0;
  float scale = 0;
  std::int64_t window = 0;
};

/// query [queries, heads * width], key and value [keys, key heads * width]. Needs flash_takes(query, num_heads).
at::Tensor flash_attend_paths(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                              const FlashPaths& paths);

}  // namespace stereosweep::model
