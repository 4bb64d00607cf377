// What CUDA's runtime says of a machine, made up: linked or loaded before the true one, whose other functions stay.
// STEREOSWEEP_FAKE_CUDA="status=35 driver=12040 node=1 devices=2 capability=70 free=1000000000 slices=1"; what is not
// named: no error, no node, one device of capability 9.0 with 64 GiB, the same for all ranks. With slices each rank is
// given a part of a divided card (MIG), which has an identity of its own. Unset: a machine without a driver.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

namespace {

long long asked(const std::string& name, long long otherwise) {
  const char* text = std::getenv("STEREOSWEEP_FAKE_CUDA");
  std::istringstream words(text == nullptr ? "status=35 devices=0 driver=0" : text);
  for (std::string word; words >> word;) {
    if (word.starts_with(name + "=")) {
      return std::stoll(word.substr(name.size() + 1));
    }
  }
  return otherwise;
}

thread_local int current = 0;

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(asked("devices", 1));
  return static_cast<cudaError_t>(asked("status", 0));
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = static_cast<int>(asked("driver", 13000));
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  current = device;
  return device < asked("devices", 1) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::memset(properties, 0, sizeof(*properties));
  std::snprintf(properties->name, sizeof(properties->name), "Made-up Card %d", device);
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  if (asked("slices", 0) == 1) {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    properties->uuid.bytes[1] = static_cast<char>(rank == nullptr ? 1 : std::stoi(rank) + 1);
  }
  properties->major = static_cast<int>(asked("capability", 90) / 10);
  properties->minor = static_cast<int>(asked("capability", 90) % 10);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = std::size_t{64} << 30;
  *free = static_cast<std::size_t>(asked("free", 64LL << 30));
  return cudaSuccess;
}

// The driver's device node.
int access(const char* path, int mode) noexcept {
  if (std::strcmp(path, "/dev/nvidiactl") == 0 || std::strcmp(path, "/dev/dxg") == 0) {
    return asked("node", 0) == 1 ? 0 : -1;
  }
  return static_cast<int>(::syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

}  // extern "C"
