#include "support/NullGpu.hpp"

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t all_memory = std::size_t{80} << 30;
constexpr std::size_t alignment = 512;

struct State {
  std::mutex mutex;
  std::unordered_map<const void*, const char*> names;  // of kernels, by the host's function
  std::unordered_map<const void*, std::int64_t> launches;
  std::map<std::string, std::int64_t> others;
  std::vector<stereosweep::testing::StreamCall> stream_calls;
  std::unordered_map<const void*, std::int64_t> blocks;
  std::int64_t bytes = 0;
  std::atomic<std::int64_t> total = 0;
  std::atomic<std::int64_t> waits = 0;
  std::atomic<bool> counts_names = true;
  int capability = [] {
    const char* const named = std::getenv("STEREOSWEEP_NULL_GPU_CAPABILITY");
    return named == nullptr ? 90 : std::atoi(named);
  }();
};

// Kernels register before any of this file's objects need be there.
State& state() {
  static auto* const kept = new State;
  return *kept;
}

void launch(const void* kernel) {
  auto& gpu = state();
  ++gpu.total;
  if (gpu.counts_names) {
    const std::lock_guard lock(gpu.mutex);
    ++gpu.launches[kernel];
  }
}

cudaError_t allocate(void** memory, std::size_t bytes) {
  auto& gpu = state();
  *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (*memory == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  const std::lock_guard lock(gpu.mutex);
  gpu.blocks[*memory] = static_cast<std::int64_t>(bytes);
  gpu.bytes += static_cast<std::int64_t>(bytes);
  return cudaSuccess;
}

cudaError_t release(void* memory) {
  auto& gpu = state();
  {
    const std::lock_guard lock(gpu.mutex);
    if (const auto found = gpu.blocks.find(memory); found != gpu.blocks.end()) {
      gpu.bytes -= found->second;
      gpu.blocks.erase(found);
    }
  }
  std::free(memory);
  return cudaSuccess;
}

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t note_event(bool waits, cudaStream_t stream, cudaEvent_t event) {
  const std::lock_guard lock(state().mutex);
  state().stream_calls.push_back({waits, stream, event});
  return cudaSuccess;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return text ? text.get() : name;
}

// "silu" of a kernel that does one thing to each number, "reduce sum" of one that takes many numbers to one, else the
// kernel's own name: without namespaces and parameters, which follow from sizes and types.
std::string short_name(const char* mangled) {
  if (std::strstr(mangled, "cutlass13device_kernel") != nullptr) {
    return "product of groups";  // nobody demangles these names
  }
  const auto whole = std::regex_replace(demangled(mangled), std::regex("\\(anonymous namespace\\)::"), "");
  std::smatch found;
  std::string own = whole;
  if (std::regex_search(whole, found, std::regex("([A-Za-z_]\\w*)\\s*[<(]"))) {
    own = found[1];
  }
  if (own.starts_with("CatArrayBatchedCopy")) {
    return "concatenate";  // its variants follow from sizes, too
  }
  const bool reduces = own == "reduce_kernel";
  if (!reduces && own.find("elementwise_kernel") == std::string::npos) {
    return own;
  }
  // The first name in the parameters that is an operation's and not one of the templates around it.
  static const std::regex operation(
      "CUDAFunctor_(\\w+)|\\b([A-Za-z_]\\w*?)_?(?:cuda_kernel|kernel_cuda|kernel_impl|CUDAKernelImpl|cuda_out|Functor|"
      "functor|"
      "Ops|_kernel)\\b");
  const std::set<std::string> around = {"gpu",
                                        "Binary",
                                        "AUnary",
                                        "BUnary",
                                        "unrolled_elementwise",
                                        "elementwise",
                                        "reduce",
                                        "CompareEq",
                                        "vectorized_elementwise"};
  const auto begin = whole.find('<');
  const auto parameters = begin == std::string::npos ? std::string() : whole.substr(begin);
  for (std::sregex_iterator match(parameters.begin(), parameters.end(), operation), end; match != end; ++match) {
    const std::string name = (*match)[1].matched ? (*match)[1] : (*match)[2];
    if (!around.contains(name) || name == "CompareEq") {
      return reduces ? "reduce " + name : name;
    }
  }
  return own;
}

}  // namespace

namespace stereosweep::testing {

std::map<std::string, std::int64_t> null_gpu_launches() {
  auto& gpu = state();
  const std::lock_guard lock(gpu.mutex);
  auto all = gpu.others;
  for (const auto& [kernel, times] : gpu.launches) {
    const auto name = gpu.names.find(kernel);
    all[name == gpu.names.end() ? "unknown" : short_name(name->second)] += times;
  }
  return all;
}

std::int64_t null_gpu_total() { return state().total; }
std::int64_t null_gpu_waits() { return state().waits; }

std::vector<StreamCall> null_gpu_stream_calls() {
  const std::lock_guard lock(state().mutex);
  return state().stream_calls;
}

void reset_null_gpu() {
  auto& gpu = state();
  const std::lock_guard lock(gpu.mutex);
  gpu.stream_calls.clear();
  gpu.launches.clear();
  gpu.others.clear();
  gpu.total = 0;
  gpu.waits = 0;
}

void count_on_null_gpu(const char* what) {
  auto& gpu = state();
  ++gpu.total;
  if (gpu.counts_names) {
    const std::lock_guard lock(gpu.mutex);
    ++gpu.others[what];
  }
}

void count_names_of_null_gpu(bool wanted) { state().counts_names = wanted; }

}  // namespace stereosweep::testing

extern "C" {

int cuTensorMapEncodeTiled(...);  // of NullDriver.cpp

// What nvcc's code calls when a library is loaded, and at each `<<<>>>`.

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  auto& gpu = state();
  const std::lock_guard lock(gpu.mutex);
  gpu.names[function] = name;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  const auto last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, size_t, cudaStream_t) {
  launch(kernel);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void**, size_t, cudaStream_t) {
  launch(function);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* function, void**) {
  launch(function);
  return cudaSuccess;
}

// The device.

cudaError_t cudaGetDeviceCount(int* devices) {
  *devices = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof(*properties));
  std::strcpy(properties->name, "a GPU that runs nothing");
  properties->uuid.bytes[0] = 1;
  properties->major = state().capability / 10;
  properties->minor = state().capability % 10;
  properties->multiProcessorCount = 132;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->sharedMemPerBlock = 49152;
  properties->sharedMemPerBlockOptin = 232448;
  properties->sharedMemPerMultiprocessor = 233472;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->totalGlobalMem = all_memory;
  properties->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxGridDimX:
      *value = properties.maxGridSize[0];
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

// Of the driver itself, products of groups ask for descriptions of their matrices.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool is_known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) {
    *result = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->ptxVersion = attributes->binaryVersion = state().capability / 10 * 10;  // what a wheel is compiled for
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 64;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = 2;
  return cudaSuccess;
}

// Memory.

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFree(void* memory) { return release(memory); }

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const std::lock_guard lock(state().mutex);
  *total = all_memory;
  *free = all_memory - static_cast<std::size_t>(state().bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (kind == cudaMemcpyDeviceToHost) {
    std::memset(to, 0, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
  stereosweep::testing::count_on_null_gpu(kind == cudaMemcpyHostToDevice   ? "copy to device"
                                          : kind == cudaMemcpyDeviceToHost ? "copy to host"
                                                                           : "copy on device");
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  ++state().waits;
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind) { return cudaSuccess; }

cudaError_t cudaGetSymbolAddress(void** address, const void*) {
  static char room[std::size_t{1} << 20];
  *address = room;
  return cudaSuccess;
}

cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  std::memset(memory, value, bytes);
  stereosweep::testing::count_on_null_gpu("set memory");
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(memory, value, bytes);
}

// All of it is the host's; torch asks whether its own pinned memory is pinned.
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->type = cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

// Streams and events.

cudaError_t cudaDeviceSynchronize() {
  ++state().waits;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  ++state().waits;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = static_cast<cudaStream_t>(std::malloc(8));
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return note_event(true, stream, event);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t*, const cudaGraphNode_t**,
#if CUDART_VERSION >= 13000
                                     const cudaGraphEdgeData**,
#endif
                                     size_t*) {
  *status = cudaStreamCaptureStatusNone;
  if (id != nullptr) {
    *id = 0;
  }
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = static_cast<cudaEvent_t>(std::malloc(8));
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  std::free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return note_event(false, stream, event); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return note_event(false, stream, event);
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventSynchronize(cudaEvent_t) {
  ++state().waits;
  return cudaSuccess;
}

}  // extern "C"
