#include "parallel/GpuBinding.hpp"

#include <cstdlib>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Sha256.hpp"
#include "parallel/Coordinated.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace stereosweep::parallel {
namespace {

#ifdef STEREOSWEEP_WITH_CUDA
void check_cuda(cudaError_t status, const std::string& call) {
  if (status != cudaSuccess) {
    throw base::Error(base::describe(call + " failed", cudaGetErrorString(status)));
  }
}

GpuBinding describe_gpu(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(properties.uuid.bytes);
  return {device, properties.name, base::to_hex({bytes, sizeof(properties.uuid.bytes)}), properties.totalGlobalMem};
}
#else
GpuBinding describe_gpu(int) { return {}; }
#endif

bool may_share() {
  const char* value = std::getenv("STEREOSWEEP_SHARE_GPU");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

int count_gpus() {
#ifdef STEREOSWEEP_WITH_CUDA
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#else
  return 0;
#endif
}

GpuBinding bind_gpu(const Communicator& world) {
  const auto node = world.node();
  const auto own = coordinated(world, [&] {
    const int visible = count_gpus();
    return visible == 0 ? GpuBinding{} : describe_gpu(node.rank() % visible);
  });
  const auto uuids = node.gather_everywhere(own.uuid);
  coordinated(world, [&] {
    for (int peer = 0; peer < node.rank(); ++peer) {
      if (own.uuid.empty() || uuids[static_cast<std::size_t>(peer)] != own.uuid) {
        continue;
      }
      const auto problem = "two ranks of a node hold the GPU " + own.uuid + " (" + own.name + ")";
      if (!may_share()) {
        throw base::Error(base::describe(problem, "start one rank per GPU and let every rank see its own",
                                         "STEREOSWEEP_SHARE_GPU=1 lets them share it"));
      }
      base::log(base::LogLevel::warning, problem + ": shared, as STEREOSWEEP_SHARE_GPU asks");
      return;
    }
  });
  return own;
}

std::string cuda_version() {
#ifdef STEREOSWEEP_WITH_CUDA
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
#else
  return "";
#endif
}

void use_gpu([[maybe_unused]] const GpuBinding& binding) {
#ifdef STEREOSWEEP_WITH_CUDA
  if (binding.device >= 0) {
    check_cuda(cudaSetDevice(binding.device), "cudaSetDevice");
  }
#endif
}

}  // namespace stereosweep::parallel
