// NCCL between processes of one machine, on host memory: a sum is enqueued at once and done in fake_stream_wait(),
// which waits for all ranks as a stream does, until the communicator is aborted; or where the test does it. A
// communicator that is split from another shares what aborts it.
#include "support/FakeNccl.hpp"

#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr int most_ranks = 8;
constexpr int most_sums = 64;
constexpr int most_numbers = 64;

// Zeroed memory is its starting state.
struct Shared {
  std::atomic<int> joined;
  std::atomic<int> split;
  std::atomic<int> left;
  std::atomic<int> arrived[most_sums];
  float numbers[most_sums][most_ranks][most_numbers];
};

struct Sum {
  float* numbers;
  std::size_t count;
};

std::atomic<int> next_error{0};
std::atomic<int> aborts{0};
std::atomic<void (*)(float*, std::size_t, void*)> add_by{nullptr};

Shared* map_shared(const char* name) {
  const int handle = ::shm_open(name, O_RDWR | O_CREAT, 0600);
  if (handle < 0 || ::ftruncate(handle, sizeof(Shared)) != 0) {
    return nullptr;
  }
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  ::close(handle);
  return memory == MAP_FAILED ? nullptr : static_cast<Shared*>(memory);
}

}  // namespace

struct ncclComm {
  ncclUniqueId id{};
  Shared* shared = nullptr;
  int rank = 0;
  int size = 0;
  int sums = 0;
  bool splitting = false;
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
  std::vector<Sum> waiting;
};

namespace {
ncclComm* current = nullptr;
}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 0, sizeof(*id));
  static int made = 0;
  std::snprintf(id->internal, sizeof(id->internal), "/stereosweep-nccl-%d-%d", static_cast<int>(::getpid()), ++made);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (config->blocking != 0 || config->splitShare != 1 || size > most_ranks) {
    return ncclInvalidArgument;  // would wait here for ever
  }
  auto* made = new ncclComm;
  made->id = id;
  made->shared = map_shared(id.internal);
  made->rank = rank;
  made->size = size;
  if (made->shared == nullptr) {
    return ncclSystemError;
  }
  if (++made->shared->joined == size) {
    ::shm_unlink(id.internal);
  }
  *comm = made;
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int, int, ncclComm_t* made, ncclConfig_t* config) {
  if (config->blocking != 1) {
    return ncclInvalidArgument;  // a sum would be a thread
  }
  *made = current = new ncclComm(*comm);
  comm->splitting = true;
  ++comm->shared->split;
  return ncclSuccess;  // though others are yet to come
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  if (next_error != 0) {
    *state = static_cast<ncclResult_t>(next_error.load());
  } else {
    const int there = comm->splitting ? comm->shared->split : comm->shared->joined;
    *state = there == comm->size ? ncclSuccess : ncclInProgress;
  }
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t, ncclComm_t comm,
                           cudaStream_t stream) {
  if (type != ncclFloat32 || from != to) {
    return ncclInvalidArgument;
  }
  if (const auto add = add_by.load(); add != nullptr) {
    add(static_cast<float*>(to), count, stream);
    return ncclSuccess;
  }
  if (count > most_numbers || comm->sums >= most_sums) {
    return ncclInvalidArgument;
  }
  const int place = comm->sums++;
  auto* numbers = static_cast<float*>(to);
  std::memcpy(comm->shared->numbers[place][comm->rank], numbers, count * sizeof(float));
  ++comm->shared->arrived[place];
  comm->waiting.push_back({numbers, count});
  return ncclSuccess;
}

void fake_stream_wait() {
  auto& comm = *current;
  for (std::size_t i = 0; i < comm.waiting.size(); ++i) {
    const int place = comm.sums - static_cast<int>(comm.waiting.size() - i);
    while (comm.shared->arrived[place] < comm.size && !*comm.aborted) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto& sum = comm.waiting[i];
    for (std::size_t j = 0; j < sum.count; ++j) {
      sum.numbers[j] = 0;
      for (int rank = 0; rank < comm.size; ++rank) {
        sum.numbers[j] += comm.shared->numbers[place][rank][j];
      }
    }
  }
  comm.waiting.clear();
}

void fake_nccl_error(int error) { next_error = error; }

int fake_nccl_aborts() { return aborts; }

void fake_nccl_add_by(void (*add)(float* numbers, std::size_t count, void* stream)) { add_by = add; }

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  ++comm->shared->left;
  while (comm->shared->left < comm->size && !*comm->aborted) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ncclSuccess;
}

// Its memory stays: whoever waits for the stream may look at it again.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ::shm_unlink(comm->id.internal);  // of those who never joined, too
  *comm->aborted = true;
  ++aborts;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t status) {
  return status == ncclRemoteError ? "remote process exited or there was a network error" : "some error";
}

}  // extern "C"
