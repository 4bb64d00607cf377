#include "parallel/Communicator.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>

#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/MpiHandle.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::parallel {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{256} << 20;  // MPI counts are int

constexpr const char* wait_variable = "STEREOSWEEP_WAIT_TIMEOUT_S";

/// One rank may read a corpus or write a result for hours while the others wait.
std::chrono::duration<double> wait_limit() {
  return std::chrono::duration<double>(base::seconds_from_environment(wait_variable, 6 * 3600));
}

/// Of this thread.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// A thread that has looked without a pause since it was made: whether others want its processor, too. Among them may
/// be the rank that sends, or the thread that reads what is sent next.
class ProcessorShare {
 public:
  bool is_contested() const {
    const auto passed = Backoff::Clock::now() - start_;
    return passed > std::chrono::milliseconds(5) && processor_time() - used_ < passed * 3 / 4;
  }

 private:
  Backoff::Clock::time_point start_ = Backoff::Clock::now();
  std::chrono::nanoseconds used_ = processor_time();
};

/// A call of MPI that does not wait, from `begin` to its end. Sleeps between tests, so that waiting ranks leave the
/// processor to those that work, or spins as long as no other thread wants the processor. Throws Error (exit code
/// `resume`) once it has waited for too long.
void complete(std::string_view call, const std::function<int(MPI_Request*)>& begin, Waiting waiting = Waiting::asleep) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(begin(&request), call);
  const auto limit = wait_limit();
  const auto start = Backoff::Clock::now();
  const Backoff backoff;
  const ProcessorShare share;
  while (true) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) {
      return;
    }
    if (Backoff::Clock::now() - start > limit) {
      throw base::Error(
          base::describe(std::string(call) + " on " + host_name() + " has not ended within " +
                             base::format_double(limit.count()) + " s",
                         "another rank hangs, was stopped, or its node is gone",
                         std::string("run the same command again; ") + wait_variable + " sets another limit"),
          base::ExitCode::resume);
    }
    if (waiting == Waiting::asleep) {
      backoff.sleep();
    } else if (share.is_contested()) {  // and it stays so while this one sleeps
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

}  // namespace

void check_mpi(int status, std::string_view call) {
  if (status == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  base::fail(std::string(call) + " failed", text.data());
}

Communicator::Handle::~Handle() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && value != MPI_COMM_WORLD && value != MPI_COMM_NULL) {
    MPI_Comm_free(&value);
  }
}

Communicator::Communicator(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {
  check_mpi(MPI_Comm_rank(handle_->value, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(handle_->value, &size_), "MPI_Comm_size");
}

Communicator Communicator::derive(std::string_view call, const std::function<int(const Handle&, Handle&)>& make) const {
  if (!handle_) {
    return {};
  }
  auto made = std::make_shared<Handle>(MPI_COMM_NULL);
  base::inject_fault("join");
  const CallLimit limit(
      "stereosweep: a rank has not joined the others in time (STEREOSWEEP_WAIT_TIMEOUT_S): it hangs, was stopped, or "
      "its node is gone. Run the same command again.\n",
      wait_limit());
  check_mpi(make(*handle_, *made), call);
  check_mpi(MPI_Comm_set_errhandler(made->value, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return Communicator(std::move(made));
}

Communicator Communicator::node() const {
  return derive("MPI_Comm_split_type", [&](const Handle& all, Handle& made) {
    return MPI_Comm_split_type(all.value, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &made.value);
  });
}

Communicator Communicator::split(int part) const {
  return derive("MPI_Comm_split",
                [&](const Handle& all, Handle& made) { return MPI_Comm_split(all.value, part, rank_, &made.value); });
}

void Communicator::broadcast_in_place(std::byte* data, std::size_t size, int root, Waiting waiting) const {
  for (std::size_t done = 0; handle_ && done < size; done += chunk_bytes) {
    const auto count = static_cast<int>(std::min(chunk_bytes, size - done));
    const auto begin = [&](MPI_Request* request) {
      return MPI_Ibcast(data + done, count, MPI_BYTE, root, handle_->value, request);
    };
    complete("MPI_Ibcast", begin, waiting);
  }
}

void Communicator::broadcast_into(std::span<std::byte> bytes, int root) const {
  broadcast_in_place(bytes.data(), bytes.size(), root, Waiting::spinning);
}

std::vector<std::byte> Communicator::broadcast(std::vector<std::byte> bytes, int root) const {
  bytes.resize(broadcast(std::uint64_t{bytes.size()}, root));
  broadcast_in_place(bytes.data(), bytes.size(), root);
  return bytes;
}

std::vector<std::vector<std::byte>> Communicator::gather_bytes(const std::vector<std::byte>& own) const {
  if (!handle_) {
    return {own};
  }
  const int length = static_cast<int>(own.size());
  std::vector<int> lengths(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  complete("MPI_Igather", [&](MPI_Request* request) {
    return MPI_Igather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, handle_->value, request);
  });
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::vector<std::byte> all(rank_ == 0 ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0);
  complete("MPI_Igatherv", [&](MPI_Request* request) {
    return MPI_Igatherv(own.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE, 0,
                        handle_->value, request);
  });
  std::vector<std::vector<std::byte>> parts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    parts.emplace_back(all.begin() + offsets[rank], all.begin() + offsets[rank] + lengths[rank]);
  }
  return broadcast(std::move(parts), 0);
}

int Communicator::least(int own) const {
  int found = own;
  if (handle_) {
    complete("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(&own, &found, 1, MPI_INT, MPI_MIN, handle_->value, request);
    });
  }
  return found;
}

void run_coordinated(const Communicator& group, std::string_view name, const std::function<void()>& step) {
  std::tuple<base::ExitCode, std::string, std::string> failure;
  auto& [code, host, text] = failure;
  bool has_failed = false;
  try {
    if (!name.empty()) {
      base::inject_fault("step:" + std::string(name));
    }
    step();
  } catch (const std::exception& error) {
    failure = {base::exit_code_of(error), host_name(), base::message_of(error)};
    has_failed = true;
  }
  const int first = group.least(has_failed ? group.rank() : group.size());
  if (first < group.size()) {
    failure = group.broadcast(std::move(failure), first);
    const auto place = first == 0 ? "" : "rank " + std::to_string(first) + " on " + host + ": ";
    throw SharedError(place + text, code);
  }
}

}  // namespace stereosweep::parallel
