// Sums over GPUs through the NCCL that torch's wheel brings, loaded when it is needed. For the room's own sources only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "parallel/TensorGroup.hpp"

namespace stereosweep::parallel {

/// What one rank makes and the others need to join.
using NcclName = std::array<std::byte, 128>;

class NcclSum {
 public:
  /// Throws Error: no library, or a build without CUDA.
  static NcclName make_name();
  /// Joins on the calling thread's current device. All ranks of the group call it. Throws Error.
  NcclSum(const NcclName& name, int rank, int size);
  ~NcclSum();
  void add_up(void* numbers, std::int64_t count, DeviceNumber kind, void* stream);

 private:
  struct Communicator;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace stereosweep::parallel
