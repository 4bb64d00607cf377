#include "model/Devices.hpp"

#include "base/Error.hpp"
#include "model/CudaLibrary.hpp"

namespace stereosweep::model {

at::TensorOptions choose_options(Dtype dtype, Device device) {
  const bool present = device != Device::cpu && cuda_ready();
  if (device == Device::cuda && !present) {
    throw base::InputError(base::describe("no CUDA device", cuda_absence(), "use the device cpu"));
  }
  // No index: the calling thread's current device, which the rank's binding has set.
  return at::TensorOptions(at::Device(present ? at::kCUDA : at::kCPU))
      .dtype(dtype == Dtype::float32 ? at::kFloat : at::kBFloat16);
}

}  // namespace stereosweep::model
