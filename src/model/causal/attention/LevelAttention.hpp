// Tree attention by torch's operators, on any device, level by level: keys and values are read where they lie.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model {

/// The rule has no cap.
std::unique_ptr<TreeAttention> make_level_attention(const AttentionRule& rule, const KeptSize& size,
                                                    const at::TensorOptions& options);

}  // namespace stereosweep::model
