// A group of ranks as a value. Null (the default) is one rank: the serial path is the same code and calls no MPI.
// Every call here is collective over the group, made from the main thread, and sleeps while it waits; it throws Error
// (exit code `resume`) after STEREOSWEEP_WAIT_TIMEOUT_S, else 6 h.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Packing.hpp"

namespace stereosweep::parallel {

/// How a call waits for the other ranks; it spins where bytes move.
enum class Waiting { asleep, spinning };

class Communicator {
 public:
  Communicator() = default;
  /// MPI's handle and what is needed to free it; known to this room alone.
  struct Handle;
  explicit Communicator(std::shared_ptr<Handle> handle);

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The ranks that share this rank's memory (one node).
  Communicator node() const;
  /// The ranks that name the same part (0 or more), in rank order, without MPI traffic in common with this group.
  Communicator split(int part) const;
  /// `bytes` of rank `root`, on every rank; any size.
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root) const;
  /// The same into memory that is there, of one size on every rank. Does not sleep meanwhile: MPI moves bytes only
  /// while it is called.
  void broadcast_into(std::span<std::byte> bytes, int root) const;
  /// The value of rank `root`, on every rank, as base::pack writes it; all ranks are of one byte order.
  template <class Value>
  Value broadcast(Value value, int root) const {
    if constexpr (std::is_trivially_copyable_v<Value>) {
      auto bytes = std::bit_cast<std::array<std::byte, sizeof(Value)>>(value);
      broadcast_in_place(bytes.data(), bytes.size(), root);
      return std::bit_cast<Value>(bytes);
    } else {
      return base::unpacked<Value>(broadcast(base::packed(value), root));
    }
  }
  /// Whether it holds on some rank, on every rank.
  bool any(bool own) const { return least(own ? 0 : 1) == 0; }
  bool all(bool own) const { return least(own ? 1 : 0) == 1; }
  /// The least of the ranks' numbers, on all of them.
  int least(int own) const;
  /// One small value of every rank, in rank order.
  template <class Value>
  std::vector<Value> gather_everywhere(const Value& own) const {
    return base::mapped(gather_bytes(base::packed(own)), base::unpacked<Value>);
  }
  const Handle* handle() const { return handle_.get(); }

 private:
  /// `make` is MPI's call.
  Communicator derive(std::string_view call, const std::function<int(const Handle&, Handle&)>& make) const;
  void broadcast_in_place(std::byte* data, std::size_t size, int root, Waiting waiting = Waiting::asleep) const;
  std::vector<std::vector<std::byte>> gather_bytes(const std::vector<std::byte>& own) const;
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

/// An error that every rank of the group throws at the same place: all may end in good order. Any other error of one
/// rank leaves the rest waiting for it: then only abort_all_ranks helps.
class SharedError : public base::Error {
 public:
  using Error::Error;
};

/// `coordinated` for a step without a result.
void run_coordinated(const Communicator& group, std::string_view name, const std::function<void()>& step);

/// Collective: runs `step` on every rank; if it throws anywhere, every rank throws the lowest rank's error.
/// The step itself must not communicate in ways that hang when one rank leaves it early. A name is the fault point
/// `step:NAME` (base/process/FaultInjection.hpp).
template <class Step>
auto coordinated(const Communicator& group, std::string_view name, Step&& step) {
  using Result = std::invoke_result_t<Step>;
  if constexpr (std::is_void_v<Result>) {
    run_coordinated(group, name, step);
  } else {
    std::optional<Result> result;
    run_coordinated(group, name, [&] { result.emplace(step()); });
    return std::move(*result);
  }
}
template <class Step>
auto coordinated(const Communicator& group, Step&& step) {
  return coordinated(group, "", std::forward<Step>(step));
}

}  // namespace stereosweep::parallel
