#include "parallel/NcclSum.hpp"

#include <cstring>
#include <string>

#include "base/Error.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>
#endif

namespace stereosweep::parallel {

#ifdef STEREOSWEEP_WITH_CUDA

static_assert(sizeof(ncclUniqueId) == sizeof(NcclName));

namespace {

// The same library that torch uses: a second NCCL in a process would have state of its own.
struct Library {
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) init_rank;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclGetErrorString) error_text;
  decltype(&ncclGetVersion) get_version;
};

const Library& library() {
  static const Library loaded = [] {
    void* const handle = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = ::dlerror();
      throw base::Error(base::describe("cannot load NCCL", reason == nullptr ? "no reason given" : reason,
                                       "env/setup.sh cuda installs it"));
    }
    const auto find = [&]<class Function>(Function*& function, const char* name) {
      function = reinterpret_cast<Function*>(::dlsym(handle, name));
      if (function == nullptr) {
        throw base::Error(base::describe(std::string("NCCL has no ") + name, "another library of that name was found"));
      }
    };
    Library found{};
    find(found.get_unique_id, "ncclGetUniqueId");
    find(found.init_rank, "ncclCommInitRank");
    find(found.all_reduce, "ncclAllReduce");
    find(found.destroy, "ncclCommDestroy");
    find(found.error_text, "ncclGetErrorString");
    find(found.get_version, "ncclGetVersion");
    return found;
  }();
  return loaded;
}

ncclDataType_t type_of(DeviceNumber kind) {
  switch (kind) {
    case DeviceNumber::bfloat16:
      return ncclBfloat16;
    case DeviceNumber::float16:
      return ncclFloat16;
    case DeviceNumber::float32:
      break;
  }
  return ncclFloat32;
}

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) {
    throw base::Error(base::describe(std::string(call) + " failed", library().error_text(status)));
  }
}

}  // namespace

std::string nccl_version() {
  int version = 0;
  check(library().get_version(&version), "ncclGetVersion");
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

struct NcclSum::Communicator {
  ncclComm_t value = nullptr;
};

NcclName NcclSum::make_name() {
  ncclUniqueId id{};
  check(library().get_unique_id(&id), "ncclGetUniqueId");
  NcclName name;
  std::memcpy(name.data(), &id, sizeof(id));
  return name;
}

NcclSum::NcclSum(const NcclName& name, int rank, int size) : communicator_(std::make_unique<Communicator>()) {
  ncclUniqueId id{};
  std::memcpy(&id, name.data(), sizeof(id));
  check(library().init_rank(&communicator_->value, size, id, rank), "ncclCommInitRank");
}

NcclSum::~NcclSum() {
  if (communicator_->value != nullptr) {
    library().destroy(communicator_->value);
  }
}

void NcclSum::add_up(void* numbers, std::int64_t count, DeviceNumber kind, void* stream) {
  check(library().all_reduce(numbers, numbers, static_cast<std::size_t>(count), type_of(kind), ncclSum,
                             communicator_->value, static_cast<cudaStream_t>(stream)),
        "ncclAllReduce");
}

#else

struct NcclSum::Communicator {};

namespace {
[[noreturn]] void refuse() {
  throw base::Error(base::describe("no NCCL", "this build is without CUDA", "build with STEREOSWEEP_USE_CUDA=ON"));
}
}  // namespace

std::string nccl_version() { refuse(); }
NcclName NcclSum::make_name() { refuse(); }
NcclSum::NcclSum(const NcclName&, int, int) { refuse(); }
NcclSum::~NcclSum() = default;
void NcclSum::add_up(void*, std::int64_t, DeviceNumber, void*) { refuse(); }

#endif

}  // namespace stereosweep::parallel
