#include "model/CudaLibrary.hpp"

#include <ATen/Context.h>

#include "base/Error.hpp"
#include "parallel/GpuBinding.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#endif

namespace stereosweep::model {

#ifdef STEREOSWEEP_WITH_CUDA

// Linked, it would cost 235 MB and 0.12 s in every process, on machines without a GPU as well.
void load_cuda_library() {
  static void* const library = ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw base::Error(base::describe("cannot load torch's CUDA library", reason == nullptr ? "no reason given" : reason,
                                     "env/setup.sh cuda installs what it needs"));
  }
}

bool cuda_ready() {
  static const bool ready = [] {
    const int count = parallel::count_gpus();
    if (count == 0) {
      return false;
    }
    load_cuda_library();
    if (!at::hasCUDA()) {
      throw base::Error(
          base::describe("torch sees none of " + std::to_string(count) + " GPUs",
                         "its own check of them fails, or it was asked before its CUDA library was loaded",
                         "see what nvidia-smi says, or compute on the processor (device: cpu)"));
    }
    return true;
  }();
  return ready;
}

bool cuda_has_flash() {
  int device = 0;
  int major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 8;
}

std::string cuda_absence() {
  int count = 0;
  const auto status = cudaGetDeviceCount(&count);
  return status == cudaSuccess ? "the driver reports " + std::to_string(count) + " devices"
                               : cudaGetErrorString(status);
}

#else

void load_cuda_library() {
  throw base::Error(
      base::describe("no CUDA library", "this build is without CUDA", "build with STEREOSWEEP_USE_CUDA=ON"));
}

bool cuda_ready() { return false; }

bool cuda_has_flash() { return false; }

std::string cuda_absence() { return "this build is without CUDA"; }

#endif

}  // namespace stereosweep::model
