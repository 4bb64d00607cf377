// The cells of an LSTM, one step of several sequences: own kernel on the CPU, computed in float32.
//   gates [4 cells] in the order of TensorFlow's weights: input i, new memory j, forget f, output o
//   memory c = clip(sigmoid(i) tanh(j) + sigmoid(f) c),   output = sigmoid(o) tanh(c)
// The forget gate's constant 1 belongs to the bias, which is part of the input products.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"

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

// One LSTM with a projection, in one direction, over sequences of mixed lengths without padding: a step runs over the
// sequences that still have a token. Every sequence starts from zeros.

/// Sequences of tokens, one after the other, none empty, no longer one after a shorter one.
struct Sequences {
  std::vector<std::int64_t> begins;  ///< first token of each
  std::vector<std::int64_t> lengths;
  std::int64_t tokens = 0;
};

enum class Direction { forwards, backwards };

class Lstm {
 public:
  /// `path`: where its weights lie (elmo_cell_path).
  Lstm(const ElmoOptions& options, const ElmoTensors& tensors, const std::string& path, at::TensorOptions type);

  /// Outputs [tokens and fillers, projection] in the dtype of `inputs`. `inputs` [rows, projection]; `rows`: the row of
  /// `inputs` that each token takes.
  at::Tensor run(const at::Tensor& inputs, std::span<const std::int64_t> rows, const Sequences& sequences,
                 Direction direction) const;

 private:
  Linear input_;
  Linear state_;
  Linear projection_;
  std::int64_t cells_ = 0;
  std::int64_t width_ = 0;
  double cell_clip_ = 0;
  double projection_clip_ = 0;
};

}  // namespace stereosweep::model
