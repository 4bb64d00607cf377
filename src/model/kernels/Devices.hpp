// The device that a model is loaded onto, and the type of its numbers there.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "parallel/GpuBinding.hpp"
#include "query/Compute.hpp"

namespace stereosweep::model {

at::ScalarType scalar_type(query::Dtype dtype);
/// The Dtype of a model whose weights have this type.
query::Dtype dtype_of(at::ScalarType type);
/// Throws InputError, naming the GPU, where it is too old: torch's kernels need compute capability 7.5 (Turing),
/// bfloat16 needs 8.0 (Ampere).
void require_capable(const parallel::GpuBinding& gpu, query::Dtype dtype);
/// Dtype and device of the weights. Throws InputError where CUDA is asked for and torch sees none, or an old one.
at::TensorOptions choose_options(query::Dtype dtype, query::Device device);

// Torch's CUDA library, loaded when a device is there to use it.

/// Loads libtorch_cuda.so, which registers its kernels with the dispatcher; later calls do nothing.
/// Throws base::Error with the loader's reason. Not part of a build without CUDA: throws there.
void load_cuda_library();

/// Whether torch sees a CUDA device. Loads the library first where the driver reports one. Must be the only way to
/// ask: torch decides at the first question whether it has CUDA. Throws Error where there is a GPU that cannot be used.
bool cuda_ready();

/// Whether the current device has what flash attention needs: compute capability 8.0 (Ampere) or newer.
bool cuda_has_flash();

/// Why cuda_ready() says no: the driver's own words.
std::string cuda_absence();

/// Fixes what the bits of a product depend on: the number of threads, MKL's code path, torch's deterministic settings.
/// Call it once, before the first operator of the process. Throws InputError for fewer than one thread.
void configure_threads(int threads);

}  // namespace stereosweep::model
