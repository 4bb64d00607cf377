// Ranks of one node that hold one model together, a slice each (tensor parallelism): they add up their partial sums.
// Made collectively by the main threads; used by two threads per rank, which call no MPI: one adds up, one finishes
// blocks. Sums travel through memory that the ranks share (CPU) or through NCCL (CUDA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// On GPUs so many rows or more go through a model's layers in halves: one computes while the other's sums are on their
/// way. With fewer rows each would take as long as both, since products would wait for weights.
inline constexpr std::int64_t least_rows_of_halves = 2048;

/// What of sums on GPUs bits depend on: "2.28.9, NCCL_ALGO=Ring, NCCL_PROTO=Simple", and the numbers of channels, which
/// are these unless the environment names others when NCCL is loaded; from how many rows on they are made in halves.
/// Throws Error where there is no NCCL.
std::string nccl_description();

class NcclSum;

class TensorGroup {
 public:
  /// Collective over `world`, all of whose ranks make a group each; those of one must share a node. Throws SharedError
  /// on all ranks of `world`, or the others would wait for a group that failed, where a node has no room for the shared
  /// memory.
  TensorGroup(const Communicator& world, const Communicator& group);
  TensorGroup(const TensorGroup&) = delete;
  TensorGroup& operator=(const TensorGroup&) = delete;
  ~TensorGroup();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The number of its rank 0 among all ranks.
  int leader() const { return leader_; }

  /// Replaces `numbers` by their sum over the ranks, added in rank order: the same bits on every rank. All ranks call
  /// it with equally many numbers. Throws Error if a rank has failed.
  void sum(std::span<float> numbers);
  /// Joins the ranks' current GPUs, so that a rank which fails from now on holds up nobody. All ranks call it, or the
  /// first sum does. Throws Error if a rank has failed.
  void join_devices();
  /// The same for `count` numbers in device memory, on a CUDA stream (cudaStream_t). Bits follow NCCL's order. Once a
  /// rank has failed the stream goes on with wrong numbers: whoever has read them must ask for failure().
  void sum_on_device(float* numbers, std::int64_t count, void* stream);

  /// Rank 0: it begins the next block.
  void begin_block();
  /// Rank 0: it begins no more.
  void close();
  /// Other ranks: waits until rank 0 has begun their next block; false: it begins no more, or a rank has failed.
  bool follow();
  /// All ranks, once for each block, when they have scored it: rank 0 waits until the others have, too. Throws Error
  /// if a rank has failed.
  void finish_block();

  /// Makes every call of every rank throw from now on; the first cause counts. Returns whether this is it. Never
  /// throws.
  bool fail(const std::string& cause) noexcept;
  /// Why all calls throw; empty: no rank has failed.
  std::string failure() const;

 private:
  struct Header;
  struct RankState;
  Header& header() const;
  RankState& of(int peer) const;
  float* numbers(int peer, std::uint64_t at_step) const;
  bool has_failed() const;
  void check() const;
  void or_cause(auto&& call) const;
  void wait(auto&& is_met) const;
  void add_step(std::span<float> part);

  int rank_ = 0;
  int size_ = 1;
  int leader_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t begun_ = 0;     ///< blocks
  std::uint64_t finished_ = 0;  ///< of these
  std::shared_ptr<std::byte> memory_;
  std::unique_ptr<NcclSum> nccl_;  ///< goes before the memory, at which its thread looks
};

}  // namespace stereosweep::parallel
