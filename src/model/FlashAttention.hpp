// Flash attention over packed sequences of different lengths, on CUDA: a private operator of the pinned torch
// (at::_flash_attention_forward), kept in this one file.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/Segments.hpp"

namespace stereosweep::model {

/// Whether the operator takes such rows: CUDA, two-byte numbers, head widths that are multiples of 8 up to 256.
bool flash_takes(const at::Tensor& query, std::int64_t num_heads);

/// As `attend`. Needs flash_takes(query, num_heads) and the segments' device tensors.
at::Tensor flash_attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const Segments& segments, std::int64_t num_heads);

}  // namespace stereosweep::model
