#include "model/MaskedModel.hpp"

#include <c10/core/InferenceMode.h>

#include "model/CheckpointConfig.hpp"
#include "model/Devices.hpp"
#include "model/Encoder.hpp"
#include "model/EncoderWeights.hpp"

namespace stereosweep::model {

std::unique_ptr<MaskedModel> MaskedModel::load(const base::FileSet& files, query::Dtype dtype, query::Device device) {
  const c10::InferenceMode guard;
  const auto config = read_config(files);
  return std::make_unique<Encoder>(config, load_encoder_weights(files, config, choose_options(dtype, device)));
}

}  // namespace stereosweep::model
