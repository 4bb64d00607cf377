// Whether a causal model fits before any weight is read.
#pragma once

#include <cstdint>

#include "base/files/File.hpp"
#include "model/causal/CausalSize.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

/// What the ranks of one node have. Bytes.
struct NodeMemory {
  int ranks = 1;
  std::uint64_t host = 0;    ///< of the node, or what its control group allows; 0: unknown
  std::uint64_t gpu = 0;     ///< free on this rank's GPU before the model is there; 0: no GPU
  int gpu_ranks = 1;         ///< ranks that share it
  std::uint64_t stored = 0;  ///< size of the weight files, which several whole models share in memory
};

/// Of this machine, for `ranks` that hold the weights of a checkpoint; without GPU. Throws InputError.
NodeMemory node_memory(int ranks, const base::CheckpointPlace& model);

/// What a causal job's batches take: execution.batch_tokens, and the rows that sampled answers keep while they grow (in
/// some blocks spread over the job; 0 where nothing is sampled). Throws InputError.
model::Load load_of(const sweep::Job& job, const base::FileSet& small_files,
                    const model::CausalSpecification& specification);

/// Throws InputError with the numbers where the job's model is larger than what there is (of a GPU: what is free,
/// shared out among its ranks): it could only fail later, slower and with less to say. Masked models pass. Returns
/// whether the node has room for a copy of the weight files beside what its ranks hold.
bool require_memory(const sweep::Job& job, const base::FileSet& small_files, const NodeMemory& memory);

}  // namespace stereosweep::run
