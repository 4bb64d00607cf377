// Activations of the feed-forward layer: our own kernels on the CPU (computed in float32, rounded once), torch's
// operators elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/AttentionKernel.hpp"  // Instructions
#include "model/CheckpointConfig.hpp"

namespace stereosweep::model {

/// activation(input), in place where that is faster: [rows, inner] -> [rows, inner]
at::Tensor activate_rows(const at::Tensor& input, Activation activation,
                         Instructions instructions = Instructions::best);
/// activation(gate) * up: [rows, 2 inner], gate before up -> [rows, inner]
at::Tensor activate_gated(const at::Tensor& gate_and_up, Activation activation,
                          Instructions instructions = Instructions::best);

}  // namespace stereosweep::model
