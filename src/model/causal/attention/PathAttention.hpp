// Tree attention by torch's operators, on any device, where scores have a cap: keys and values are gathered
// path by path, and paths of equal shapes are computed together.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model {

std::unique_ptr<TreeAttention> make_path_attention(const AttentionRule& rule, const KeptSize& size,
                                                   const at::TensorOptions& options);

}  // namespace stereosweep::model
