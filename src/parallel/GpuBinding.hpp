// Which GPU a rank uses: its place among the ranks of the node decides, never an environment variable of a launcher
// (under `salloc mpirun` SLURM_LOCALID is 0 on every rank).
#pragma once

#include <cstdint>
#include <string>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

struct GpuBinding {
  int device = -1;   ///< CUDA's index; -1: none
  std::string name;  ///< "NVIDIA H200"; empty: none
  std::string uuid;
  std::uint64_t bytes = 0;  ///< of memory, in all
};

/// Number of GPUs that this process sees; 0 without a driver or in a build without CUDA.
int count_gpus();

/// Collective over the group. Takes device (node rank) mod (visible devices). Where two ranks of a node would hold
/// one GPU it throws on all ranks, unless STEREOSWEEP_SHARE_GPU=1. Nodes without a GPU get device -1.
GpuBinding bind_gpu(const Communicator& world);

/// Version of the CUDA runtime, "13.0"; "" in a build without CUDA.
std::string cuda_version();

/// Makes the bound GPU the current one of the calling thread; nothing for device -1.
void use_gpu(const GpuBinding& binding);

}  // namespace stereosweep::parallel
