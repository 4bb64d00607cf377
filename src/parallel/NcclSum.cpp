#include "parallel/NcclSum.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "base/Error.hpp"
#include "base/process/Environment.hpp"
#include "parallel/Backoff.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>
#endif

namespace stereosweep::parallel {

namespace {

/// How many parts a sum is cut into decides at which rank each of its numbers begins.
constexpr const char* channels = "16";

constexpr std::array<std::pair<const char*, const char*>, 4> chosen_order{{{"NCCL_ALGO", "Ring"},
                                                                           {"NCCL_PROTO", "Simple"},
                                                                           {"NCCL_MIN_NCHANNELS", channels},
                                                                           {"NCCL_MAX_NCHANNELS", channels}}};

}  // namespace

void choose_nccl_order() {
  for (const auto& [name, value] : chosen_order) {
    ::setenv(name, value, 0);
  }
}

#ifdef STEREOSWEEP_WITH_CUDA

static_assert(sizeof(ncclUniqueId) == sizeof(NcclName));

namespace {

/// Becomes the function that is asked for.
struct Symbol {
  void* address;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

/// In the library that torch uses, too: a second NCCL in a process would have state of its own.
Symbol find(const char* name) {
  static void* const library = [] {
    choose_nccl_order();
    // Either would make a rank wait for one that is gone.
    ::unsetenv("NCCL_COMM_BLOCKING");
    ::unsetenv("NCCL_COMM_SPLIT_SHARE_RESOURCES");
    return ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  }();
  if (library == nullptr) {
    const char* reason = ::dlerror();
    base::fail("cannot load NCCL", reason == nullptr ? "no reason given" : reason, "env/setup.sh cuda installs it");
  }
  void* const found = ::dlsym(library, name);
  base::fail_if(found == nullptr, std::string("NCCL has no ") + name, "another library of that name was found");
  return {found};
}

struct Library {
  decltype(&ncclGetUniqueId) get_unique_id = find("ncclGetUniqueId");
  decltype(&ncclCommInitRankConfig) init_rank = find("ncclCommInitRankConfig");
  decltype(&ncclCommSplit) split = find("ncclCommSplit");
  decltype(&ncclAllReduce) all_reduce = find("ncclAllReduce");
  decltype(&ncclCommGetAsyncError) state_of = find("ncclCommGetAsyncError");
  decltype(&ncclCommFinalize) finalize = find("ncclCommFinalize");
  decltype(&ncclCommDestroy) destroy = find("ncclCommDestroy");
  decltype(&ncclCommAbort) abort = find("ncclCommAbort");
  decltype(&ncclGetErrorString) error_text = find("ncclGetErrorString");
  decltype(&ncclGetVersion) get_version = find("ncclGetVersion");
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) {
    base::fail(std::string(call) + " failed", library().error_text(status));
  }
}

constexpr std::chrono::milliseconds look_every{20};
constexpr std::chrono::seconds longest_goodbye{5};

}  // namespace

std::string nccl_description() {
  int version = 0;
  check(library().get_version(&version), "ncclGetVersion");
  auto text =
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  for (const auto& [name, value] : chosen_order) {
    text += std::string(", ") + name + "=" + base::text_from_environment(name);
  }
  return text + ", halves from " + std::to_string(least_rows_of_halves) + " rows";
}

/// Two of NCCL's communicators. The first does not block, so that joining can be given up. On such a one each sum would
/// be a thread of NCCL's own; so sums go through the second, which is split from it and blocks. Both share the flag
/// that ends kernels and waits: whoever aborts the first frees a thread that is inside of a sum, and leaves the second
/// in memory. NCCL's functions take no lock of their own, and need none here: once the ranks have joined, the first
/// belongs to the watcher and the second to the thread that adds up.
struct NcclSum::Communicator {
  explicit Communicator(GroupFailure group_failure) : failure(std::move(group_failure)) {}

  /// Until what was begun on the first is done: a split says at once that it has succeeded. Throws where it, or a rank,
  /// has failed.
  void finish(ncclResult_t begun, const char* call) const {
    check(begun == ncclInProgress ? ncclSuccess : begun, call);
    const Backoff backoff;
    auto status = state();
    for (; status == ncclInProgress; status = state()) {
      if (failure.is_known()) {
        base::fail(std::string(call) + " was given up", "a rank of the group has failed");
      }
      backoff.sleep();
    }
    check(status, call);
  }

  ncclResult_t state() const {
    ncclResult_t now = ncclSuccess;
    const auto status = library().state_of(first, &now);
    return status == ncclSuccess ? now : status;
  }

  void watch() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, look_every, [this] { return has_left; })) {
      const auto now = state();
      if (now != ncclSuccess && now != ncclInProgress) {
        failure.announce(base::describe("NCCL has failed", library().error_text(now)));
      }
      if (failure.is_known() || std::chrono::steady_clock::now() > leaves_by.load()) {
        aborted = true;
        library().abort(first);
        return;
      }
    }
  }

  ncclComm_t first = nullptr;
  ncclComm_t second = nullptr;
  const GroupFailure failure;
  std::atomic<bool> aborted = false;
  std::atomic<std::chrono::steady_clock::time_point> leaves_by = std::chrono::steady_clock::time_point::max();
  std::mutex mutex;
  std::condition_variable changed;
  bool has_left = false;  // under the mutex
  std::thread watcher;
};

NcclName NcclSum::make_name() {
  ncclUniqueId id{};
  check(library().get_unique_id(&id), "ncclGetUniqueId");
  NcclName name;
  std::memcpy(name.data(), &id, sizeof(id));
  return name;
}

NcclSum::NcclSum(const NcclName& name, int rank, int size, GroupFailure failure)
    : communicator_(std::make_unique<Communicator>(std::move(failure))) {
  ncclUniqueId id{};
  std::memcpy(&id, name.data(), sizeof(id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.splitShare = 1;
  auto& own = *communicator_;
  const auto status = library().init_rank(&own.first, size, id, rank, &config);
  try {
    own.finish(status, "ncclCommInitRankConfig");
    config.blocking = 1;
    own.finish(library().split(own.first, 0, rank, &own.second, &config), "ncclCommSplit");
  } catch (...) {
    if (own.first != nullptr) {
      library().abort(own.first);
    }
    throw;
  }
  own.watcher = std::thread([&own] { own.watch(); });
}

NcclSum::~NcclSum() {
  auto& own = *communicator_;
  // The others may still read this rank's part of the last sum. Where one fails, or is not heard of, the watcher ends
  // the wait.
  own.leaves_by = std::chrono::steady_clock::now() + longest_goodbye;
  const bool left = !own.failure.is_known() && library().finalize(own.second) == ncclSuccess;
  {
    const std::lock_guard lock(own.mutex);
    own.has_left = true;
  }
  own.changed.notify_all();
  own.watcher.join();
  if (left && !own.aborted) {
    library().destroy(own.second);
    library().destroy(own.first);
    return;
  }
  if (!own.aborted) {
    library().abort(own.first);
  }
  library().abort(own.second);
}

void NcclSum::add_up(float* numbers, std::int64_t count, void* stream) {
  auto& own = *communicator_;
  base::fail_if(own.aborted, "NCCL adds up no more", "a rank of the group has failed");
  check(library().all_reduce(numbers, numbers, static_cast<std::size_t>(count), ncclFloat32, ncclSum, own.second,
                             static_cast<cudaStream_t>(stream)),
        "ncclAllReduce");
}

#else

struct NcclSum::Communicator {};

namespace {
[[noreturn]] void refuse() {
  base::fail("no NCCL", "this build is without CUDA", "build with STEREOSWEEP_USE_CUDA=ON");
}
}  // namespace

std::string nccl_description() { refuse(); }
NcclName NcclSum::make_name() { refuse(); }
NcclSum::NcclSum(const NcclName&, int, int, GroupFailure) { refuse(); }
NcclSum::~NcclSum() = default;
void NcclSum::add_up(float*, std::int64_t, void*) { refuse(); }

#endif

}  // namespace stereosweep::parallel
