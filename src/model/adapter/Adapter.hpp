// An adapter as PEFT saves it, merged into the weights while they are read: LoRA with patterns of ranks and alphas,
// rank-stabilized scales, DoRA's magnitudes, biases, and modules that it replaces whole.
//   W + s B A;  s = alpha / r, or alpha / sqrt(r);  DoRA: each row of it times magnitude / its norm
// (source: hu2021, kalajdzievski2023, liu2024; github.com/huggingface/peft, tuners/lora)
#pragma once

#include "base/files/File.hpp"
#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {

/// Changes the tensors that the adapter among the files changes; nothing where there is none. Throws InputError for
/// other kinds of adapters and settings that this program does not merge, each by its name, for what does not fit the
/// model, and for a part of the adapter that would be ignored.
void apply_adapter(const base::FileSet& files, StoredTensors& tensors);

}  // namespace stereosweep::model
