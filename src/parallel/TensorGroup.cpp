#include "parallel/TensorGroup.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "base/Error.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/NcclSum.hpp"
#include "parallel/SharedMemory.hpp"

namespace stereosweep::parallel {
namespace {

constexpr std::size_t numbers_per_step = std::size_t{1} << 18;  // of one rank: 1 MiB, twice
constexpr std::size_t line = 64;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

struct alignas(line) TensorGroup::RankState {
  std::atomic<std::uint64_t> arrived;  ///< steps whose numbers lie ready
  std::atomic<std::uint64_t> done;     ///< blocks
};

// At the beginning of the shared memory; zeroed memory is its starting state. The ranks' states and numbers follow.
struct TensorGroup::Header {
  alignas(line) std::atomic<std::uint32_t> failed;  ///< 1: a cause is being written, 2: it can be read
  char cause[512];
  alignas(line) std::atomic<std::uint64_t> begun;  ///< blocks, by rank 0
  std::atomic<std::uint32_t> closed;
  NcclName nccl_name;
  std::atomic<std::uint32_t> nccl_named;
};

TensorGroup::Header& TensorGroup::header() const { return *std::launder(reinterpret_cast<Header*>(memory_.get())); }

TensorGroup::RankState& TensorGroup::of(int peer) const {
  static_assert(sizeof(Header) % line == 0);
  return std::launder(reinterpret_cast<RankState*>(memory_.get() + sizeof(Header)))[peer];
}

float* TensorGroup::numbers(int peer, std::uint64_t at_step) const {
  auto* const begin = memory_.get() + sizeof(Header) + static_cast<std::size_t>(size_) * sizeof(RankState);
  const auto place = static_cast<std::size_t>(peer) * 2 + at_step % 2;
  return reinterpret_cast<float*>(begin) + place * numbers_per_step;
}

bool TensorGroup::has_failed() const { return header().failed.load(std::memory_order_acquire) != 0; }

void TensorGroup::check() const {
  if (has_failed()) {
    while (header().failed.load(std::memory_order_acquire) == 1) {
      std::this_thread::yield();
    }
    base::fail("a rank of the tensor-parallel group has failed", header().cause);
  }
}

/// Where `call` throws because another rank has failed, that rank's cause is thrown instead.
void TensorGroup::or_cause(auto&& call) const {
  try {
    call();
  } catch (const base::Error&) {
    check();
    throw;
  }
}

// The others are mostly there within microseconds; where they are not, the processor may be theirs.
void TensorGroup::wait(auto&& is_met) const {
  constexpr int spins = 2000;
  for (int spin = 0; spin < spins; ++spin) {
    if (is_met()) {
      return;
    }
    if (spin % 64 == 63) {
      std::this_thread::yield();
    }
  }
  Backoff backoff;
  while (!is_met()) {
    check();
    backoff.sleep();
  }
}

TensorGroup::TensorGroup(const Communicator& world, const Communicator& group)
    : rank_(group.rank()), size_(group.size()), leader_(group.broadcast(world.rank(), 0)) {
  const auto bytes =
      sizeof(Header) + static_cast<std::size_t>(size_) * (sizeof(RankState) + 2 * numbers_per_step * sizeof(float));
  memory_ = share_memory(world, group, bytes);
  coordinated(world, [&] {
    base::fail_if(!memory_, "no room in /dev/shm for tensor_parallel: " + std::to_string(size_),
                  std::to_string(bytes >> 20) + " MiB are needed", "make /dev/shm larger");
  });
}

TensorGroup::~TensorGroup() = default;

void TensorGroup::add_step(std::span<float> part) {
  check();
  const auto now = ++step_;
  std::memcpy(numbers(rank_, now), part.data(), part.size_bytes());
  of(rank_).arrived.store(now, std::memory_order_release);
  for (int peer = 0; peer < size_; ++peer) {
    wait([&] { return of(peer).arrived.load(std::memory_order_acquire) >= now; });
  }
  // A peer overwrites these numbers two steps on, after it has seen this rank arrive at the next.
  std::memcpy(part.data(), numbers(0, now), part.size_bytes());
  for (int peer = 1; peer < size_; ++peer) {
    const float* const other = numbers(peer, now);
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] += other[i];
    }
  }
}

void TensorGroup::sum(std::span<float> numbers) {
  for (std::size_t first = 0; first < numbers.size(); first += numbers_per_step) {
    add_step(numbers.subspan(first, std::min(numbers_per_step, numbers.size() - first)));
  }
}

void TensorGroup::join_devices() {
  if (nccl_) {
    return;
  }
  check();
  if (rank_ == 0) {
    header().nccl_name = NcclSum::make_name();
    header().nccl_named.store(1, std::memory_order_release);
  }
  wait([&] { return header().nccl_named.load(std::memory_order_acquire) == 1; });
  or_cause([&] {
    const GroupFailure failure{[this] { return has_failed(); }, [this](const std::string& cause) { fail(cause); }};
    nccl_ = std::make_unique<NcclSum>(header().nccl_name, rank_, size_, failure);
  });
}

void TensorGroup::sum_on_device(float* numbers, std::int64_t count, void* stream) {
  join_devices();
  check();
  or_cause([&] { nccl_->add_up(numbers, count, stream); });
}

void TensorGroup::begin_block() { header().begun.store(++begun_, std::memory_order_release); }

void TensorGroup::close() { header().closed.store(1, std::memory_order_release); }

bool TensorGroup::follow() {
  const auto is_begun = [&, next = ++begun_] { return header().begun.load(std::memory_order_acquire) >= next; };
  try {
    wait([&] { return is_begun() || header().closed.load(std::memory_order_acquire) == 1; });
  } catch (const base::Error&) {  // the run hears of it through rank 0
    return false;
  }
  return is_begun();
}

void TensorGroup::finish_block() {
  check();
  of(rank_).done.store(++finished_, std::memory_order_release);
  for (int peer = 1; rank_ == 0 && peer < size_; ++peer) {
    wait([&] { return of(peer).done.load(std::memory_order_acquire) >= finished_; });
  }
}

bool TensorGroup::fail(const std::string& cause) noexcept {
  auto& shared = header();
  std::uint32_t expected = 0;
  if (!shared.failed.compare_exchange_strong(expected, 1)) {
    return false;
  }
  const auto length = std::min(cause.size(), sizeof(shared.cause) - 1);
  std::memcpy(shared.cause, cause.data(), length);
  shared.failed.store(2, std::memory_order_release);
  return true;
}

std::string TensorGroup::failure() const {
  try {
    check();
    return "";
  } catch (const base::Error& error) {
    return error.what();
  }
}

}  // namespace stereosweep::parallel
