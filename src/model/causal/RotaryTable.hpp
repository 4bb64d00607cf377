// Angles of positions, kept on the device from pass to pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>

#include "model/causal/LayerKernels.hpp"

namespace stereosweep::model {

/// The angles of one rotary, in the form that the kernels take. Safe to use from several threads.
class RotaryTable {
 public:
  RotaryTable(Rotary rotary, const at::Device& device, Kernels kernels);
  /// Angles of position 0 to, at least, before `positions`, on the device. Torch's operators find them from the last
  /// time; the numbers of a position do not depend on how many are asked for.
  RotaryAngles at_least(std::int64_t positions);

 private:
  Rotary rotary_;
  at::Device device_;
  Kernels kernels_;
  std::mutex mutex_;
  RotaryAngles kept_;
};

}  // namespace stereosweep::model
