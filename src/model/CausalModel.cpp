#include "model/CausalModel.hpp"

#include <c10/core/InferenceMode.h>

#include "model/CausalBody.hpp"
#include "model/Devices.hpp"

namespace stereosweep::model {

std::unique_ptr<CausalModel> CausalModel::load(const base::FileSet& files, query::Dtype dtype, query::Device device,
                                               std::shared_ptr<parallel::TensorGroup> group) {
  const c10::InferenceMode guard;
  const auto whole = read_causal_specification(files);
  const auto slice = group ? TensorSlice{group->rank(), group->size()} : TensorSlice{};
  const auto options = choose_options(dtype, device);
  auto weights = load_causal_weights(files, whole, options, slice);
  if (group && options.device().is_cuda()) {
    group->join_devices();
  }
  PassSettings settings;
  settings.group = std::move(group);
  return std::make_unique<CausalBody>(slice_of(whole, slice), std::move(weights), settings);
}

}  // namespace stereosweep::model
