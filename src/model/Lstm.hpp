// One LSTM with a projection, in one direction, over sequences of mixed lengths without padding: a step runs over the
// sequences that still have a token. Every sequence starts from zeros.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/ElmoOptions.hpp"
#include "model/ElmoTensors.hpp"
#include "model/Linear.hpp"

namespace stereosweep::model {

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
