// Torch's CUDA library, loaded when a device is there to use it.
#pragma once

#include <string>

namespace stereosweep::model {

/// Loads libtorch_cuda.so, which registers its kernels with the dispatcher; later calls do nothing.
/// Throws base::Error with the loader's reason. Not part of a build without CUDA: throws there.
void load_cuda_library();

/// Whether torch sees a CUDA device. Loads the library first where the driver reports one. Must be the only way to
/// ask: torch decides at the first question whether it has CUDA. Throws Error where there is a GPU that cannot be used.
bool cuda_ready();

/// Whether the current device has what flash attention needs: compute capability 8.0 (Ampere) or newer.
bool cuda_has_flash();

/// Why cuda_ready() says no: the driver's own words.
std::string cuda_absence();

}  // namespace stereosweep::model
