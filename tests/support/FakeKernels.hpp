#pragma once

#include <torch/library.h>

namespace stereosweep::testing {

/// All of the fake device's operators.
void register_fake_kernels();
/// Its attention operators.
void register_attention(torch::Library& library);

}  // namespace stereosweep::testing
