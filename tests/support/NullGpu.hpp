// A GPU that runs nothing: what CUDA's runtime and cuBLAS answer torch's real CUDA library where there is none. Memory
// is the host's, a kernel is counted by its name and not executed, numbers that come to the host are zeros. So all of
// torch's own host code for CUDA runs: dispatch, checks of arguments, the allocator, the choice of kernels. Linked
// before the true libraries; null_driver stands for the driver's. One device with an H100's numbers; its compute
// capability is 9.0, or what STEREOSWEEP_NULL_GPU_CAPABILITY names (100: 10.0).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stereosweep::testing {

/// How often each kernel was launched since the last reset: by its name without namespaces and parameters, with the
/// operation where one kernel serves many ("elementwise_kernel: silu"). Products are "product", copies "copy to host",
/// "copy to device", "copy on device", memory that is set "set memory".
std::map<std::string, std::int64_t> null_gpu_launches();

/// All of them. Cheap: also counted while names are not.
std::int64_t null_gpu_total();

/// Times that the host waited for the device.
std::int64_t null_gpu_waits();

/// What streams were told about events since the last reset.
struct StreamCall {
  bool waits = false;  ///< else it records the event
  const void* stream = nullptr;
  const void* event = nullptr;
  bool operator==(const StreamCall&) const = default;
};
std::vector<StreamCall> null_gpu_stream_calls();

void reset_null_gpu();

/// For the parts of the stand-in: work that is no kernel of torch's.
void count_on_null_gpu(const char* what);

/// For times of the host: names cost more than torch does.
void count_names_of_null_gpu(bool wanted);

}  // namespace stereosweep::testing
