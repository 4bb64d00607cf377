// The device that a model is loaded onto, and the type of its numbers there.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/MaskedModel.hpp"  // Dtype, Device

namespace stereosweep::model {

at::ScalarType scalar_type(Dtype dtype);
/// The Dtype of a model whose weights have this type.
Dtype dtype_of(at::ScalarType type);
/// Dtype and device of the weights. Throws InputError where CUDA is asked for and torch sees none.
at::TensorOptions choose_options(Dtype dtype, Device device);

}  // namespace stereosweep::model
