#include "model/kernels/Kernels.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "base/Error.hpp"
#include "base/process/Processors.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace stereosweep::model {

namespace {

Kernels kernels_on_cpu() {
  const char* const named = std::getenv("STEREOSWEEP_KERNELS");
  const std::string name = named == nullptr ? "" : named;
  if (name.empty() || name == "own_kernels") {
    return Kernels::own_kernels;
  }
  if (name == "operators") {
    return Kernels::operators;
  }
  base::refuse("STEREOSWEEP_KERNELS is '" + name + "'", "there are own_kernels and operators");
}

/// What env/cmake/torch_calls.py writes for a function; its name, as the linker knows it, follows.
struct TorchCall {
  void* address;  ///< where calls jump
};

}  // namespace

extern "C" void* stereosweep_find_torch_function(TorchCall* call) noexcept;

// Nobody above can be thrown at: the caller is any line that calls torch.
void* stereosweep_find_torch_function(TorchCall* call) noexcept {
  static void* const library = ::dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_GLOBAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, reinterpret_cast<const char*>(call + 1));
  if (found == nullptr) {
    const char* reason = ::dlerror();
    std::cerr << "stereosweep: "
              << base::describe("cannot load torch", reason == nullptr ? "no reason given" : reason,
                                "env/setup.sh installs what it needs")
              << std::endl;
    ::_exit(static_cast<int>(base::ExitCode::error));
  }
  return call->address = found;
}

Kernels kernels_on(const c10::Device& device) {
  if (!device.is_cpu()) {
    return Kernels::operators;
  }
  static const Kernels chosen = kernels_on_cpu();
  return chosen;
}

bool has(Instructions instructions) {
  switch (instructions) {
    case Instructions::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    case Instructions::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    default:
      return true;
  }
}

at::ScalarType scalar_type(query::Dtype dtype) {
  switch (dtype) {
    case query::Dtype::bfloat16:
      return at::kBFloat16;
    case query::Dtype::float16:
      return at::kHalf;
    case query::Dtype::float32:
      break;
  }
  return at::kFloat;
}

query::Dtype dtype_of(at::ScalarType type) {
  return type == at::kBFloat16 ? query::Dtype::bfloat16
         : type == at::kHalf   ? query::Dtype::float16
                               : query::Dtype::float32;
}

void require_capable(const parallel::GpuBinding& gpu, query::Dtype dtype) {
  const auto require = [&](int least, const std::string& what, const std::string& advice) {
    if (gpu.capability < least) {
      const auto text = [](int number) { return std::to_string(number / 10) + "." + std::to_string(number % 10); };
      base::refuse("the GPU " + gpu.name + " is too old for " + what,
                   "its compute capability is " + text(gpu.capability) + ", " + text(least) + " is needed", advice);
    }
  };
  require(75, "this program", "compute on the processor: execution.device: cpu (of a query: --device cpu)");
  if (dtype == query::Dtype::bfloat16) {
    require(80, "bfloat16", "use model.dtype: float16 or float32");
  }
}

at::TensorOptions choose_options(query::Dtype dtype, query::Device device) {
  const bool present = device != query::Device::cpu && cuda_ready();
  if (device == query::Device::cuda && !present) {
    base::refuse("no CUDA device", cuda_absence(), "use the device cpu");
  }
  if (present) {
    require_capable(parallel::current_gpu(), dtype);
  }
  // No index: the calling thread's current device, which the rank's binding has set.
  return at::TensorOptions(at::Device(present ? at::kCUDA : at::kCPU)).dtype(scalar_type(dtype));
}

#ifdef STEREOSWEEP_WITH_CUDA

namespace {

/// Batches have many sizes: segments that grow leave no gaps between them. Torch reads this at its first allocation on
/// a GPU, the name without CUDA only where the other one is not set.
void choose_gpu_allocation() {
  if (std::getenv("PYTORCH_ALLOC_CONF") == nullptr) {
    ::setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 0);
  }
}

}  // namespace

// Linked, it would cost 235 MB and 0.12 s in every process, on machines without a GPU as well.
void load_cuda_library() {
  static void* const library = [] {
    choose_gpu_allocation();
    return ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  }();
  if (library == nullptr) {
    const char* reason = ::dlerror();
    base::fail("cannot load torch's CUDA library", reason == nullptr ? "no reason given" : reason,
               "env/setup.sh cuda installs what it needs");
  }
}

bool cuda_ready() {
  static const bool ready = [] {
    const int count = parallel::count_gpus();
    if (count == 0) {
      return false;
    }
    load_cuda_library();
    base::fail_if(!at::hasCUDA(), "torch sees none of " + std::to_string(count) + " GPUs",
                  "its own check of them fails, or it was asked before its CUDA library was loaded",
                  "see what nvidia-smi says, or compute on the processor (device: cpu)");
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

void configure_threads(int threads) {
  base::refuse_if(threads < 1, "threads = " + std::to_string(threads), "at least one thread must do the work");
  // MKL reads this at its first call; without it the bits of a product may follow the alignment of its operands.
  ::setenv("MKL_CBWR", "AUTO,STRICT", 0);
  static const bool interop_set = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(interop_set);
  base::require_threads(threads - 1);
  at::set_num_threads(threads);
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, false);
  context.setDeterministicFillUninitializedMemory(false);
  context.setBenchmarkCuDNN(false);
  context.setSDPUseCuDNN(false);  // it would look for a plan for every new shape
  context.setAllowTF32CuBLAS(false);
  // Parts of a split sum are added in float32. Split sums themselves must stay allowed: forbidding them makes every
  // 16-bit product throw that torch does not give to cuBLASLt (those without a bias, and the vocabulary's).
  context.setAllowBF16ReductionCuBLAS(false);
  context.setAllowFP16ReductionCuBLAS(false);
}

}  // namespace stereosweep::model
