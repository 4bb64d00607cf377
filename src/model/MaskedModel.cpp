#include "model/MaskedModel.hpp"

#include <c10/core/InferenceMode.h>

#include "base/Error.hpp"
#include "model/CheckpointConfig.hpp"
#include "model/CudaLibrary.hpp"
#include "model/Encoder.hpp"
#include "model/EncoderWeights.hpp"

namespace stereosweep::model {
namespace {

at::Device choose_device(Device device) {
  const bool present = device != Device::cpu && cuda_ready();
  if (device == Device::cuda && !present) {
    throw base::InputError(base::describe("no CUDA device", "torch sees none", "use the device cpu"));
  }
  // No index: the calling thread's current device, which the rank's binding has set.
  return at::Device(present ? at::kCUDA : at::kCPU);
}

}  // namespace

std::unique_ptr<MaskedModel> MaskedModel::load(const base::FileSet& files, Dtype dtype, Device device) {
  const c10::InferenceMode guard;
  const auto config = read_config(files);
  const auto options =
      at::TensorOptions(choose_device(device)).dtype(dtype == Dtype::float32 ? at::kFloat : at::kBFloat16);
  return std::make_unique<Encoder>(config, load_encoder_weights(files, config, options));
}

}  // namespace stereosweep::model
