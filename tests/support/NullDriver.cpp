// The driver beside NullGpu.cpp: a libcuda.so.1 that has what torch's helper for compiling at run time asks it for when
// it is loaded. A context is there, and matrices can be described; anything else is refused, so that whoever needs the
// driver is seen.
namespace {

constexpr int success = 0;
constexpr int not_supported = 801;

}  // namespace

extern "C" {

int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return success;
}

int cuCtxGetCurrent(void** context) {
  static int only = 0;
  *context = &only;
  return success;
}

int cuCtxSetCurrent(...) { return success; }
int cuDeviceGet(...) { return not_supported; }
int cuDeviceGetAttribute(...) { return not_supported; }
int cuDevicePrimaryCtxRetain(...) { return not_supported; }
int cuFuncGetAttribute(...) { return not_supported; }
int cuFuncSetAttribute(...) { return not_supported; }
int cuFuncSetCacheConfig(...) { return not_supported; }
int cuGetErrorString(...) { return not_supported; }
int cuLaunchCooperativeKernel(...) { return not_supported; }
int cuLaunchKernel(...) { return not_supported; }
int cuLinkAddData_v2(...) { return not_supported; }
int cuLinkComplete(...) { return not_supported; }
int cuLinkCreate_v2(...) { return not_supported; }
int cuModuleGetFunction(...) { return not_supported; }
int cuModuleLoad(...) { return not_supported; }
int cuModuleLoadData(...) { return not_supported; }
int cuModuleLoadDataEx(...) { return not_supported; }
int cuModuleUnload(...) { return not_supported; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(...) { return not_supported; }
int cuPointerGetAttribute(...) { return not_supported; }
int cuTensorMapEncodeTiled(...) { return success; }

}  // extern "C"
