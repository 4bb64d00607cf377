#include "parallel/GpuBinding.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/Environment.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#include <unistd.h>
#endif

namespace stereosweep::parallel {

#ifdef STEREOSWEEP_WITH_CUDA
namespace {

void check_cuda(cudaError_t status, const std::string& call) {
  base::fail_if(status != cudaSuccess, call + " failed", cudaGetErrorString(status));
}

/// What the driver's installation leaves, also in containers and under WSL.
bool has_device_node() { return ::access("/dev/nvidiactl", F_OK) == 0 || ::access("/dev/dxg", F_OK) == 0; }

/// "12.4"; "none" where no driver is found.
std::string version_text(int number) {
  return number == 0 ? "none" : std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// A driver runs programs of its own CUDA and older ones, and those of the same first number.
std::string advice_for_old_driver() {
  const auto compatibility =
      "cuda-compat-" + std::to_string(CUDART_VERSION / 1000) + "-" + std::to_string(CUDART_VERSION % 1000 / 10);
  return std::string("install NVIDIA's driver ") + (CUDART_VERSION < 13000 ? "525" : "580") +
         " or newer, or, on a data centre's GPU, its package " + compatibility +
         " (forward compatibility), or build with an older torch (env/torch/README.md)";
}

[[noreturn]] void refuse_gpu(cudaError_t status) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  const bool is_old = status == cudaErrorInsufficientDriver;
  base::fail("CUDA cannot use this machine's GPU",
             std::string(cudaGetErrorString(status)) + "; CUDA of the driver: " + version_text(driver) +
                 ", of this program: " + version_text(CUDART_VERSION),
             (is_old ? advice_for_old_driver() : "see what nvidia-smi says") +
                 ", or compute on the processor: execution.device: cpu (of a query: --device cpu)");
}

GpuBinding describe_gpu(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(properties.uuid.bytes);
  GpuBinding gpu;
  gpu.device = device;
  gpu.name = properties.name;
  gpu.uuid = base::to_hex({bytes, sizeof(properties.uuid.bytes)});
  gpu.capability = 10 * properties.major + properties.minor;
  return gpu;
}

/// Bytes; the first call of a rank makes its context.
std::uint64_t free_memory() {
  std::size_t free = 0;
  std::size_t all = 0;
  check_cuda(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
  return free;
}

}  // namespace

int count_gpus() {
  int count = 0;
  const auto status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) {
    return count;
  }
  if (status != cudaErrorNoDevice && has_device_node()) {
    refuse_gpu(status);
  }
  return 0;
}

GpuBinding current_gpu() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  return describe_gpu(device);
}

std::string cuda_version() {
  int version = 0;
  check_cuda(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return version_text(version);
}

void use_gpu(const GpuBinding& binding) {
  if (binding.device >= 0) {
    check_cuda(cudaSetDevice(binding.device), "cudaSetDevice");
  }
}

#else

namespace {
GpuBinding describe_gpu(int) { return {}; }
std::uint64_t free_memory() { return 0; }
}  // namespace
int count_gpus() { return 0; }
GpuBinding current_gpu() { return {}; }
std::string cuda_version() { return ""; }
void use_gpu(const GpuBinding&) {}

#endif

GpuBinding bind_gpu(const Communicator& world) {
  const auto node = world.node();
  auto own = coordinated(world, [&] {
    const int visible = count_gpus();
    return visible == 0 ? GpuBinding{} : describe_gpu(node.rank() % visible);
  });
  const auto uuids = node.gather_everywhere(own.uuid);
  coordinated(world, [&] {
    if (own.device < 0) {
      return;
    }
    own.ranks = static_cast<int>(std::ranges::count(uuids, own.uuid));
    if (own.ranks > 1) {
      const auto problem =
          std::to_string(own.ranks) + " ranks of a node hold the GPU " + own.uuid + " (" + own.name + ")";
      if (base::text_from_environment("STEREOSWEEP_SHARE_GPU") != "1") {
        base::fail(problem, "start one rank per GPU and let every rank see its own",
                   "STEREOSWEEP_SHARE_GPU=1 lets them share it");
      }
      if (std::ranges::find(uuids, own.uuid) - uuids.begin() == node.rank()) {  // one of them says so
        base::log(base::LogLevel::warning, problem + ": shared, as STEREOSWEEP_SHARE_GPU asks");
      }
    }
    use_gpu(own);
    free_memory();
  });
  coordinated(world, [&] {  // only now: every rank has its context
    own.free = own.device < 0 ? 0 : free_memory();
  });
  return own;
}

}  // namespace stereosweep::parallel
