// By which of two ways a model computes: with kernels of our own, which the CPU alone has, or with torch's operators,
// which every device has. What CUDA takes can so be run, and compared, on a machine without a GPU.
#pragma once

#include <c10/core/Device.h>

namespace stereosweep::model {

/// own_kernels: straight on the numbers, CPU only. operators: torch's, on any device; flash attention on CUDA where it
/// knows the rule.
enum class Kernels { own_kernels, operators };

/// operators on every device but the CPU; on the CPU own_kernels, or what the environment's STEREOSWEEP_KERNELS
/// (own_kernels or operators) said at the first call. Throws InputError for another word there.
Kernels kernels_on(const c10::Device& device);

}  // namespace stereosweep::model
