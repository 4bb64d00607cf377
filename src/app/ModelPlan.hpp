// What a causal model needs of a machine, printed by `plan` from config.json and the index of the shards alone.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "base/files/File.hpp"
#include "model/causal/CausalSize.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::app {

/// Size, memory per rank for every group size that the model can be cut into, and the smallest that fits GPUs of
/// `gpu_bytes` (nothing: GPUs are not spoken of); `load` is what the job runs at once. Throws InputError for settings
/// that are not supported.
void print_model_plan(std::ostream& out, const base::FileSet& files, const sweep::Job& job, model::Load load,
                      std::optional<std::uint64_t> gpu_bytes);

}  // namespace stereosweep::app
