#include "parallel/TensorGroup.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "base/Error.hpp"
#include "parallel/Backoff.hpp"
#include "parallel/NcclSum.hpp"
#include "parallel/SharedSegment.hpp"

namespace stereosweep::parallel {
namespace {

constexpr std::size_t numbers_per_step = std::size_t{1} << 18;  // of one rank: 1 MiB, twice
constexpr std::size_t line = 64;

struct alignas(line) RankState {
  std::atomic<std::uint64_t> arrived;  ///< steps whose numbers lie ready
  std::atomic<std::uint64_t> taken;    ///< orders that were read
};

// At the beginning of the shared memory; zeroed memory is its starting state.
struct Header {
  alignas(line) std::atomic<std::uint32_t> failed;  ///< 1: a cause is being written, 2: it can be read
  char cause[512];
  alignas(line) std::atomic<std::uint64_t> ordered;  ///< number of the last order
  std::atomic<std::uint64_t> order;
  std::atomic<std::uint32_t> closed;
  NcclName nccl_name;
  std::atomic<std::uint32_t> nccl_named;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

std::size_t ranks_begin() { return (sizeof(Header) + line - 1) / line * line; }
std::size_t numbers_begin(int size) { return ranks_begin() + static_cast<std::size_t>(size) * sizeof(RankState); }
std::size_t segment_bytes(int size) {
  return numbers_begin(size) + static_cast<std::size_t>(size) * 2 * numbers_per_step * sizeof(float);
}

}  // namespace

struct TensorGroup::State {
  std::shared_ptr<std::byte> memory;
  int rank = 0;
  int size = 1;
  std::uint64_t step = 0;
  std::uint64_t orders = 0;
  std::unique_ptr<NcclSum> nccl = nullptr;

  Header& header() const { return *std::launder(reinterpret_cast<Header*>(memory.get())); }
  RankState& of(int peer) const {
    return std::launder(reinterpret_cast<RankState*>(memory.get() + ranks_begin()))[peer];
  }
  float* numbers(int peer, std::uint64_t at_step) const {
    const auto place = static_cast<std::size_t>(peer) * 2 + at_step % 2;
    return reinterpret_cast<float*>(memory.get() + numbers_begin(size)) + place * numbers_per_step;
  }

  void fail(const std::string& cause) const noexcept {
    auto& shared = header();
    std::uint32_t expected = 0;
    if (shared.failed.compare_exchange_strong(expected, 1)) {
      const auto length = std::min(cause.size(), sizeof(shared.cause) - 1);
      std::memcpy(shared.cause, cause.data(), length);
      shared.failed.store(2, std::memory_order_release);
    }
  }

  bool has_failed() const { return header().failed.load(std::memory_order_acquire) != 0; }

  void check() const {
    if (has_failed()) {
      while (header().failed.load(std::memory_order_acquire) == 1) {
        std::this_thread::yield();
      }
      throw base::Error(base::describe("a rank of the tensor-parallel group has failed", header().cause));
    }
  }

  /// Where `call` throws because another rank has failed, that rank's cause is thrown instead.
  template <class Step>
  void or_cause(Step&& call) const {
    try {
      call();
    } catch (const base::Error&) {
      check();
      throw;
    }
  }

  // The others are mostly there within microseconds; where they are not, the processor may be theirs.
  template <class Condition>
  void wait(Condition&& is_met) const {
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

  void add_step(std::span<float> part) {
    check();
    const auto now = ++step;
    std::memcpy(numbers(rank, now), part.data(), part.size_bytes());
    of(rank).arrived.store(now, std::memory_order_release);
    for (int peer = 0; peer < size; ++peer) {
      wait([&] { return of(peer).arrived.load(std::memory_order_acquire) >= now; });
    }
    // A peer overwrites these numbers two steps on, after it has seen this rank arrive at the next.
    std::memcpy(part.data(), numbers(0, now), part.size_bytes());
    for (int peer = 1; peer < size; ++peer) {
      const float* const other = numbers(peer, now);
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[i] += other[i];
      }
    }
  }
};

TensorGroup::TensorGroup(const Communicator& world, const Communicator& group)
    : rank_(group.rank()), size_(group.size()) {
  SharedSegment segment;
  const auto bytes = size_ == 1 ? 0 : segment_bytes(size_);
  const bool made = segment.make(world, group, bytes);
  coordinated(world, "map_segment", [&] {
    if (size_ == 1) {
      return;
    }
    if (!made) {
      throw base::Error(base::describe("no room in /dev/shm for tensor_parallel: " + std::to_string(size_),
                                       std::to_string(bytes >> 20) + " MiB are needed", "make /dev/shm larger"));
    }
    state_ = std::make_unique<State>(State{segment.map(bytes, SharedSegment::Access::write), rank_, size_});
  });
}

TensorGroup::~TensorGroup() = default;

void TensorGroup::sum(std::span<float> numbers) {
  for (std::size_t first = 0; state_ && first < numbers.size(); first += numbers_per_step) {
    state_->add_step(numbers.subspan(first, std::min(numbers_per_step, numbers.size() - first)));
  }
}

void TensorGroup::join_devices() {
  if (!state_ || state_->nccl) {
    return;
  }
  auto& state = *state_;
  auto& header = state.header();
  state.check();
  if (rank_ == 0) {
    header.nccl_name = NcclSum::make_name();
    header.nccl_named.store(1, std::memory_order_release);
  }
  state.wait([&] { return header.nccl_named.load(std::memory_order_acquire) == 1; });
  state.or_cause([&] {
    const GroupFailure failure{[&state] { return state.has_failed(); },
                               [&state](const std::string& cause) { state.fail(cause); }};
    state.nccl = std::make_unique<NcclSum>(header.nccl_name, rank_, size_, failure);
  });
}

void TensorGroup::sum_on_device(void* numbers, std::int64_t count, DeviceNumber kind, void* stream) {
  if (!state_) {
    return;
  }
  join_devices();
  state_->check();
  state_->or_cause([&] { state_->nccl->add_up(numbers, count, kind, stream); });
}

void TensorGroup::order(std::uint64_t what) {
  if (!state_) {
    return;
  }
  auto& header = state_->header();
  for (int peer = 1; peer < size_; ++peer) {
    state_->wait([&] { return state_->of(peer).taken.load(std::memory_order_acquire) == state_->orders; });
  }
  state_->check();
  header.order.store(what, std::memory_order_relaxed);
  header.ordered.store(++state_->orders, std::memory_order_release);
}

void TensorGroup::close() {
  if (state_) {
    state_->header().closed.store(1, std::memory_order_release);
  }
}

std::optional<std::uint64_t> TensorGroup::next_order() {
  if (!state_) {
    return std::nullopt;
  }
  auto& header = state_->header();
  const auto next = state_->orders + 1;
  const auto is_there = [&] { return header.ordered.load(std::memory_order_acquire) >= next; };
  state_->wait([&] { return is_there() || header.closed.load(std::memory_order_acquire) == 1; });
  if (!is_there()) {
    return std::nullopt;
  }
  const auto what = header.order.load(std::memory_order_relaxed);
  state_->orders = next;
  state_->of(rank_).taken.store(next, std::memory_order_release);
  return what;
}

void TensorGroup::fail(const std::string& cause) noexcept {
  if (state_) {
    state_->fail(cause);
  }
}

std::string TensorGroup::failure() const {
  try {
    if (state_) {
      state_->check();
    }
    return "";
  } catch (const base::Error& error) {
    return error.what();
  }
}

}  // namespace stereosweep::parallel
