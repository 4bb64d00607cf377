// The device that a model is loaded onto, and the type of its numbers there.
#pragma once

#include <ATen/core/Tensor.h>

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

}  // namespace stereosweep::model
