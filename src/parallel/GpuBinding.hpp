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
  int capability = 0;      ///< CUDA's compute capability: 75 is 7.5
  int ranks = 1;           ///< of the node that hold this GPU
  std::uint64_t free = 0;  ///< bytes, once each of these ranks has its CUDA context
};

/// Number of GPUs that this process sees; 0 on a machine without a GPU, where none is granted, or in a build without
/// CUDA. Throws Error with what to do where there is one that CUDA cannot use: an old driver, a damaged GPU.
int count_gpus();

/// Collective over the group. Takes device (node rank) mod (visible devices). Where two ranks of a node would hold
/// one GPU it throws on all ranks, unless STEREOSWEEP_SHARE_GPU=1. Nodes without a GPU get device -1.
GpuBinding bind_gpu(const Communicator& world);

/// Version of the CUDA runtime, "13.0"; "" in a build without CUDA.
std::string cuda_version();

/// The calling thread's current GPU, without `ranks` and `free`. Throws Error.
GpuBinding current_gpu();

/// Makes the bound GPU the current one of the calling thread; nothing for device -1.
void use_gpu(const GpuBinding& binding);

}  // namespace stereosweep::parallel
