// The cells of an LSTM, one step of several sequences: own kernel on the CPU, computed in float32.
//   gates [4 cells] in the order of TensorFlow's weights: input i, new memory j, forget f, output o
//   memory c = clip(sigmoid(i) tanh(j) + sigmoid(f) c),   output = sigmoid(o) tanh(c)
// The forget gate's constant 1 belongs to the bias, which is part of the input products.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/AttentionKernel.hpp"  // Instructions

namespace stereosweep::model {

struct CellStep {
  at::Tensor input_gates;    ///< [*, 4 cells] float32 or bfloat16
  const std::int64_t* rows;  ///< of `input_gates`: one for each sequence
  at::Tensor state_gates;    ///< [sequences or more, 4 cells] in the same dtype; undefined at a first step
  at::Tensor memory;         ///< [sequences or more, cells] float32, changed
  at::Tensor output;         ///< [sequences or more, cells] in the dtype of the gates, written
  std::int64_t sequences = 0;
  float clip = 0;  ///< largest size of a memory; 0: none
};

void step_cells(const CellStep& step, Instructions instructions = Instructions::best);

}  // namespace stereosweep::model
