// The feed-forward layer and its mixture of experts.
//   shapes  [rows, hidden] -> [rows, hidden] in the model's dtype
#pragma once

#include <ATen/core/Tensor.h>

#include "model/CausalSpecification.hpp"
#include "model/CausalWeights.hpp"

namespace stereosweep::model {

/// outer(activation(inner(input))), or with a gate; plus `residual` where that is defined.
at::Tensor feed_forward(const FeedForward& layer, const CausalSpecification& specification, const at::Tensor& input,
                        const at::Tensor& residual);

/// The experts that the router chooses for each row, weighted: softmax over all experts in float32, the largest
/// per_token of them (ties: the lower number). Rows are sorted by expert, so that each expert multiplies once; sums are
/// float32, experts in ascending order. `router` [experts, hidden] float32.
at::Tensor mix_experts(const CausalLayer& layer, const at::Tensor& router, const CausalSpecification& specification,
                       const at::Tensor& input);

}  // namespace stereosweep::model
