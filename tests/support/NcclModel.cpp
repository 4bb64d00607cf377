// How NCCL works inside (2.27 to 2.30), for one rank. On a communicator that does not block a job is a thread, and
// whoever asks for the communicator's state afterwards ends that thread and frees what it worked with. A communicator
// that is split from it may block; then a sum is enqueued by whoever asks for it. Both share the flag that ends
// kernels, counted, and nothing else. As in NCCL no lock guards any of this, so that a thread sanitizer sees two
// threads on one communicator, and use of one that was freed. One join in eight never ends, as where a rank is gone,
// and one sum in a thousand, as behind a full queue, until the communicator is aborted.
#include <nccl.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

struct ncclComm;

namespace {

constexpr std::chrono::microseconds enqueuing{5};
constexpr unsigned sums_to_a_full_queue = 1000;
constexpr unsigned joins_to_a_lost_rank = 8;

using Flag = std::shared_ptr<std::atomic<bool>>;

struct Job {
  pthread_t thread = {};
  ncclComm* comm = nullptr;
  ncclComm_t* made = nullptr;  ///< where the communicator that is split goes
  bool waits_for_ever = false;
};

void take_a_while(bool waits_for_ever, const std::atomic<bool>& aborted) {
  const auto end = std::chrono::steady_clock::now() + enqueuing;
  while (waits_for_ever ? !aborted : std::chrono::steady_clock::now() < end) {
    if (waits_for_ever) {
      std::this_thread::sleep_for(enqueuing);
    }
  }
}

}  // namespace

struct ncclComm {
  Flag aborted;
  bool blocking = false;
  std::atomic<ncclResult_t> state{ncclSuccess};
  Job* job = nullptr;
  unsigned uses = 0;  ///< of no atomic type: two threads at once are seen
};

namespace {

void* run(void* argument) {
  auto* const job = static_cast<Job*>(argument);
  take_a_while(job->waits_for_ever, *job->comm->aborted);
  if (job->made != nullptr) {
    *job->made = new ncclComm{job->comm->aborted, true};
  }
  job->comm->state = ncclSuccess;
  return nullptr;
}

void end_job(ncclComm* comm) {
  if (comm->job != nullptr) {
    pthread_join(comm->job->thread, nullptr);
    delete comm->job;
    comm->job = nullptr;
  }
}

ncclResult_t begin_job(ncclComm* comm, ncclComm_t* made, bool waits_for_ever) {
  comm->state = ncclInProgress;
  comm->job = new Job{{}, comm, made, waits_for_ever};
  return pthread_create(&comm->job->thread, nullptr, &run, comm->job) == 0 ? ncclInProgress : ncclSystemError;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 0, sizeof(*id));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t* config) {
  if (config->blocking != 0 || config->splitShare != 1) {
    return ncclInvalidArgument;  // could not be ended
  }
  static unsigned joins = 0;
  *comm = new ncclComm{std::make_shared<std::atomic<bool>>(false)};
  return begin_job(*comm, nullptr, ++joins % joins_to_a_lost_rank == 0);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  ++comm->uses;
  *state = comm->state;
  if (*state == ncclSuccess) {
    end_job(comm);
  }
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int, int, ncclComm_t* made, ncclConfig_t* config) {
  ncclResult_t state = ncclSuccess;
  ncclCommGetAsyncError(comm, &state);
  if (state == ncclInProgress || config->blocking != 1) {
    return ncclInvalidArgument;
  }
  return begin_job(comm, made, false) == ncclInProgress ? ncclSuccess : ncclSystemError;  // though it has only begun
}

ncclResult_t ncclAllReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t comm, cudaStream_t) {
  if (!comm->blocking) {
    return ncclInvalidArgument;  // would be a thread
  }
  take_a_while(++comm->uses % sums_to_a_full_queue == 0, *comm->aborted);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  ++comm->uses;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ++comm->uses;
  end_job(comm);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  *comm->aborted = true;
  return ncclCommDestroy(comm);
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t) { return "some error"; }

}  // extern "C"
