// A group of ranks as a value. Null (the default) is one rank: the serial path is the same code and calls no MPI.
// Every call here is collective over the group, made from the main thread, and sleeps while it waits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace stereosweep::parallel {

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
  /// The ranks that name the same part (0 or more), in rank order.
  Communicator split(int part) const;
  /// The group without MPI traffic of its own in common with this one.
  Communicator duplicate() const;
  void barrier() const;
  /// `bytes` of rank `root`, on every rank; any size.
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root) const;
  std::string broadcast(const std::string& text, int root) const;
  /// The value of rank `root`, on every rank; all ranks are of one byte order.
  template <class Value>
  requires std::is_trivially_copyable_v<Value> Value broadcast(Value value, int root)
  const {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(Value)>>(value);
    broadcast_in_place(bytes.data(), bytes.size(), root);
    return std::bit_cast<Value>(bytes);
  }
  /// Sum over the ranks, the same on all: integers alone, also of 128 bits: a sum of floating point depends on its
  /// order.
  template <class Integer>
  requires requires(Integer number) { number % number; }
  Integer sum(Integer own) const {
    Integer total = 0;
    for (const auto& text : gather_everywhere({reinterpret_cast<const char*>(&own), sizeof(own)})) {
      std::array<char, sizeof(Integer)> bytes{};
      text.copy(bytes.data(), bytes.size());
      total += std::bit_cast<Integer>(bytes);
    }
    return total;
  }
  /// Whether it holds on some rank, on every rank.
  bool any(bool own) const { return sum<int>(own ? 1 : 0) > 0; }
  bool all(bool own) const { return sum<int>(own ? 1 : 0) == size_; }
  /// One short text of every rank, in rank order.
  std::vector<std::string> gather_everywhere(const std::string& text) const;
  const Handle* handle() const { return handle_.get(); }

 private:
  void broadcast_in_place(std::byte* data, std::size_t size, int root) const;
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace stereosweep::parallel
