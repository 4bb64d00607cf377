#include "parallel/NcclSum.hpp"

#include <array>
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
// A thread of NCCL's enqueues a sum, in microseconds: sleeping would take longer than that.
constexpr std::chrono::microseconds longest_spin{100};

}  // namespace

std::string nccl_description() {
  int version = 0;
  check(library().get_version(&version), "ncclGetVersion");
  auto text =
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  for (const auto& [name, value] : chosen_order) {
    text += std::string(", ") + name + "=" + base::text_from_environment(name);
  }
  return text;
}

/// NCCL's functions take no lock of their own: whoever asks for the state frees what the last sum began with. So all
/// use of `value` is under the mutex, once the watcher runs. Nobody holds it for long: whoever waits for a sum to be
/// enqueued gives up as soon as a failure is known.
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
    const auto start = Backoff::Clock::now();
    for (; status == ncclInProgress; status = state()) {
      if (failure.is_known()) {
        throw base::Error(base::describe(std::string(call) + " was given up", "a rank of the group has failed"));
      }
      if (Backoff::Clock::now() - start > longest_spin) {
        backoff.sleep();
      }
    }
    check(status, call);
  }

  void abort() {
    aborted = true;
    library().abort(value);
  }

  void watch() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, look_every, [this] { return ending; })) {
      const auto now = state();
      if (now != ncclSuccess && now != ncclInProgress) {
        failure.announce(base::describe("NCCL has failed", library().error_text(now)));
      }
      if (failure.is_known()) {
        abort();
        return;
      }
    }
  }

  ncclComm_t value = nullptr;
  const GroupFailure failure;
  std::mutex mutex;
  std::condition_variable changed;
  bool aborted = false;
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
    const std::lock_guard lock(own.mutex);
    own.ending = true;
  }
  own.changed.notify_all();
  own.watcher.join();
  if (own.aborted) {
    return;
  }
  // The others may still read this rank's part of the last sum. After a failure nobody ends what is under way.
  auto state = own.failure.is_known() ? ncclInProgress : library().finalize(own.value);
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
