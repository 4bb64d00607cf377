// The device that a model is loaded onto.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/MaskedModel.hpp"  // Dtype, Device

namespace stereosweep::model {

/// Dtype and device of the weights. Throws InputError where CUDA is asked for and torch sees none.
at::TensorOptions choose_options(Dtype dtype, Device device);

}  // namespace stereosweep::model
