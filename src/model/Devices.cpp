#include "model/Devices.hpp"

#include "base/Error.hpp"
#include "model/CudaLibrary.hpp"

namespace stereosweep::model {

at::ScalarType scalar_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bfloat16:
      return at::kBFloat16;
    case Dtype::float16:
      return at::kHalf;
    case Dtype::float32:
      break;
  }
  return at::kFloat;
}

Dtype dtype_of(at::ScalarType type) {
  return type == at::kBFloat16 ? Dtype::bfloat16 : type == at::kHalf ? Dtype::float16 : Dtype::float32;
}

at::TensorOptions choose_options(Dtype dtype, Device device) {
  const bool present = device != Device::cpu && cuda_ready();
  if (device == Device::cuda && !present) {
    throw base::InputError(base::describe("no CUDA device", cuda_absence(), "use the device cpu"));
  }
  // No index: the calling thread's current device, which the rank's binding has set.
  return at::TensorOptions(at::Device(present ? at::kCUDA : at::kCPU)).dtype(scalar_type(dtype));
}

}  // namespace stereosweep::model
