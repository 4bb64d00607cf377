// Torch's CUDA library, loaded when a device is there to use it.
#pragma once

namespace stereosweep::model {

/// Loads libtorch_cuda.so, which registers its kernels with the dispatcher; later calls do nothing.
/// Throws base::Error with the loader's reason. Not part of a build without CUDA: throws there.
void load_cuda_library();

/// Whether torch sees a CUDA device. Loads the library first where the driver reports one. Must be the only way to
/// ask: torch decides at the first question whether it has CUDA.
bool cuda_ready();

}  // namespace stereosweep::model
