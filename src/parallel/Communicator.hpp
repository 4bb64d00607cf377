// A group of ranks as a value. Null (the default) is one rank: the serial path is the same code and calls no MPI.
// Every call here is collective over the group, made from the main thread, and sleeps while it waits.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
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
  /// One short text of every rank, in rank order.
  std::vector<std::string> gather_everywhere(const std::string& text) const;
  const Handle* handle() const { return handle_.get(); }

 private:
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace stereosweep::parallel
