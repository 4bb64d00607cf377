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

void choose_nccl_order() {
  ::setenv("NCCL_ALGO", "Ring", 0);
  ::setenv("NCCL_PROTO", "Simple", 0);
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
    return ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  }();
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw base::Error(base::describe("cannot load NCCL", reason == nullptr ? "no reason given" : reason,
                                     "env/setup.sh cuda installs it"));
  }
  void* const found = ::dlsym(library, name);
  if (found == nullptr) {
    throw base::Error(base::describe(std::string("NCCL has no ") + name, "another library of that name was found"));
  }
  return {found};
}

struct Library {
  decltype(&ncclGetUniqueId) get_unique_id = find("ncclGetUniqueId");
  decltype(&ncclCommInitRankConfig) init_rank = find("ncclCommInitRankConfig");
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
    throw base::Error(base::describe(std::string(call) + " failed", library().error_text(status)));
  }
}

constexpr std::chrono::milliseconds look_every{20};
constexpr std::chrono::seconds longest_goodbye{5};
// Whoever enqueues holds the lock for microseconds, unless the device's queue is full behind a sum that waits.
constexpr std::chrono::seconds longest_enqueue{2};

}  // namespace

std::string nccl_description() {
  int version = 0;
  check(library().get_version(&version), "ncclGetVersion");
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100) + ", NCCL_ALGO=" + base::text_from_environment("NCCL_ALGO") +
         ", NCCL_PROTO=" + base::text_from_environment("NCCL_PROTO");
}

/// What `value` is used for happens under the mutex, once its watcher runs.
struct NcclSum::Communicator {
  explicit Communicator(GroupFailure group_failure) : failure(std::move(group_failure)) {}

  ncclResult_t state() const {
    ncclResult_t now = ncclSuccess;
    const auto status = library().state_of(value, &now);
    return status == ncclSuccess ? now : status;
  }

  /// Until what was begun is done. Throws where it, or a rank, has failed.
  void finish(ncclResult_t status, const char* call) const {
    const Backoff backoff;
    for (; status == ncclInProgress; status = state()) {
      if (failure.is_known()) {
        throw base::Error(base::describe(std::string(call) + " was given up", "a rank of the group has failed"));
      }
      backoff.sleep();
    }
    check(status, call);
  }

  void abort() {
    if (!aborted.exchange(true)) {
      library().abort(value);
    }
  }

  void watch() {
    std::unique_lock lock(ending_mutex);
    while (!changed.wait_for(lock, look_every, [this] { return ending; })) {
      const auto now = state();
      if (now != ncclSuccess && now != ncclInProgress) {
        failure.announce(base::describe("NCCL has failed", library().error_text(now)));
      }
      if (failure.is_known()) {
        const std::unique_lock use(mutex, longest_enqueue);  // or without it: nothing else frees a queue that is full
        abort();
        return;
      }
    }
  }

  ncclComm_t value = nullptr;
  const GroupFailure failure;
  std::timed_mutex mutex;
  std::atomic<bool> aborted = false;
  std::mutex ending_mutex;
  std::condition_variable changed;
  bool ending = false;
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
  auto& own = *communicator_;
  const auto status = library().init_rank(&own.value, size, id, rank, &config);
  try {
    own.finish(status, "ncclCommInitRankConfig");
  } catch (...) {
    if (own.value != nullptr) {
      own.abort();
    }
    throw;
  }
  own.watcher = std::thread([&own] { own.watch(); });
}

NcclSum::~NcclSum() {
  auto& own = *communicator_;
  {
    const std::lock_guard lock(own.ending_mutex);
    own.ending = true;
  }
  own.changed.notify_all();
  own.watcher.join();
  if (own.aborted) {
    return;
  }
  // The others may still read this rank's part of the last sum.
  auto state = library().finalize(own.value);
  const Backoff backoff;
  const auto start = Backoff::Clock::now();
  while (state == ncclInProgress && !own.failure.is_known() && Backoff::Clock::now() - start < longest_goodbye) {
    backoff.sleep();
    state = own.state();
  }
  if (state == ncclSuccess) {
    library().destroy(own.value);
  } else {
    own.abort();
  }
}

void NcclSum::add_up(float* numbers, std::int64_t count, void* stream) {
  auto& own = *communicator_;
  const std::lock_guard lock(own.mutex);
  if (own.aborted) {
    throw base::Error(base::describe("NCCL adds up no more", "a rank of the group has failed"));
  }
  own.finish(library().all_reduce(numbers, numbers, static_cast<std::size_t>(count), ncclFloat32, ncclSum, own.value,
                                  static_cast<cudaStream_t>(stream)),
             "ncclAllReduce");
}

#else

struct NcclSum::Communicator {};

namespace {
[[noreturn]] void refuse() {
  throw base::Error(base::describe("no NCCL", "this build is without CUDA", "build with STEREOSWEEP_USE_CUDA=ON"));
}
}  // namespace

std::string nccl_description() { refuse(); }
NcclName NcclSum::make_name() { refuse(); }
NcclSum::NcclSum(const NcclName&, int, int, GroupFailure) { refuse(); }
NcclSum::~NcclSum() = default;
void NcclSum::add_up(float*, std::int64_t, void*) { refuse(); }

#endif

}  // namespace stereosweep::parallel
