#include "model/Devices.hpp"

#include <string>

#include "base/Error.hpp"
#include "model/CudaLibrary.hpp"

namespace stereosweep::model {

at::ScalarType scalar_type(query::Dtype dtype) {
  switch (dtype) {
    case query::Dtype::bfloat16:
      return at::kBFloat16;
    case query::Dtype::float16:
      return at::kHalf;
    case query::Dtype::float32:
      break;
  }
  return at::kFloat;
}

query::Dtype dtype_of(at::ScalarType type) {
  return type == at::kBFloat16 ? query::Dtype::bfloat16
         : type == at::kHalf   ? query::Dtype::float16
                               : query::Dtype::float32;
}

void require_capable(const parallel::GpuBinding& gpu, query::Dtype dtype) {
  const auto require = [&](int least, const std::string& what, const std::string& advice) {
    if (gpu.capability < least) {
      const auto text = [](int number) { return std::to_string(number / 10) + "." + std::to_string(number % 10); };
      throw base::InputError(base::describe(
          "the GPU " + gpu.name + " is too old for " + what,
          "its compute capability is " + text(gpu.capability) + ", " + text(least) + " is needed", advice));
    }
  };
  require(75, "this program", "compute on the processor: execution.device: cpu (of a query: --device cpu)");
  if (dtype == query::Dtype::bfloat16) {
    require(80, "bfloat16", "use model.dtype: float16 or float32");
  }
}

at::TensorOptions choose_options(query::Dtype dtype, query::Device device) {
  const bool present = device != query::Device::cpu && cuda_ready();
  if (device == query::Device::cuda && !present) {
    throw base::InputError(base::describe("no CUDA device", cuda_absence(), "use the device cpu"));
  }
  if (present) {
    require_capable(parallel::current_gpu(), dtype);
  }
  // No index: the calling thread's current device, which the rank's binding has set.
  return at::TensorOptions(at::Device(present ? at::kCUDA : at::kCPU)).dtype(scalar_type(dtype));
}

}  // namespace stereosweep::model
