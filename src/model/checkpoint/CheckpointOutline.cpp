#include "model/checkpoint/CheckpointOutline.hpp"

#include <c10/core/InferenceMode.h>

#include "model/body/BodyWeights.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/elmo/ElmoCheckpoint.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::model {

CheckpointOutline read_outline(const base::FileSet& files) {
  const c10::InferenceMode guard;
  const auto shapes_only = at::TensorOptions(at::kMeta).dtype(at::kFloat);
  CheckpointOutline outline;
  outline.has_weights = has_weights(files);
  if (base::is_elmo(files)) {
    outline.kind = CheckpointOutline::Kind::elmo;
    outline.has_head = false;
    read_elmo_options(files);
    if (outline.has_weights) {
      base::find_elmo_weights(files);
    }
  } else if (is_causal(files)) {
    outline.kind = CheckpointOutline::Kind::causal;
    const auto specification = read_causal_specification(files);
    if (outline.has_weights) {
      outline.has_head = load_causal_weights(files, specification, shapes_only, {}).head.defined();
    }
  } else {
    const auto config = read_masked_specification(files);
    if (outline.has_weights) {
      outline.has_head = load_masked_weights(files, config, shapes_only).head.defined();
    }
  }
  return outline;
}

}  // namespace stereosweep::model
