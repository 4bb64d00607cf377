// Sums over GPUs through the NCCL that torch's wheel brings, loaded when it is needed. For the room's own sources only.
//
// A sum waits on the GPU for all ranks, and so does whoever waits for the stream. Nothing here waits for a rank that
// has failed: a thread that sees a failure aborts the communicators, which ends their kernels and whatever waits inside
// of NCCL, and lets the stream go on, with wrong numbers. So numbers count only where no rank has failed after they
// were read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "parallel/TensorGroup.hpp"

namespace stereosweep::parallel {

/// What one rank makes and the others need to join.
using NcclName = std::array<std::byte, 128>;

/// What the ranks of a group know of each other, asked from any thread.
struct GroupFailure {
  std::function<bool()> is_known;
  std::function<void(const std::string& cause)> announce;
};

/// Names one algorithm, one protocol and one number of channels in the environment, unless it names some already: left
/// alone NCCL chooses by what it measures of the machine, and the order of a sum follows from them. For before NCCL is
/// loaded.
void choose_nccl_order();

class NcclSum {
 public:
  /// Throws Error: no library, or a build without CUDA.
  static NcclName make_name();
  /// Joins on the calling thread's current device. All ranks of the group call it. Throws Error, also once a failure is
  /// known.
  NcclSum(const NcclName& name, int rank, int size, GroupFailure failure);
  ~NcclSum();
  /// Throws Error as the constructor.
  void add_up(float* numbers, std::int64_t count, void* stream);

 private:
  struct Communicator;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace stereosweep::parallel
