#include "model/CausalModel.hpp"

#include <c10/core/InferenceMode.h>

#include "model/CausalBody.hpp"
#include "model/Devices.hpp"

namespace stereosweep::model {

std::unique_ptr<CausalModel> CausalModel::load(const base::FileSet& files, Dtype dtype, Device device) {
  const c10::InferenceMode guard;
  const auto specification = read_causal_specification(files);
  return std::make_unique<CausalBody>(specification,
                                      load_causal_weights(files, specification, choose_options(dtype, device)));
}

}  // namespace stereosweep::model
