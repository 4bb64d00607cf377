// What a causal model needs, from its settings alone: no weight is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/causal/CausalSpecification.hpp"

namespace stereosweep::model {

/// Numbers of the matrices (norms and biases, a ten-thousandth of a large model, are left out).
struct CausalSize {
  std::uint64_t embedding = 0;    ///< word and position embeddings, and a head of its own
  std::uint64_t layers = 0;       ///< all layers, all experts
  std::uint64_t key_values = 0;   ///< keys and values of one token, all layers
  std::uint64_t activations = 0;  ///< at most alive per token of a batch
};
CausalSize size_of(const CausalSpecification& specification);

/// One rank of a group of `tensor_parallel` that holds the model in slices. Bytes.
struct RankMemory {
  int tensor_parallel = 1;
  std::uint64_t weights = 0;      ///< layers in slices, embeddings and head whole
  std::uint64_t activations = 0;  ///< of a batch, logits included
  std::uint64_t kept = 0;         ///< of texts that grow: keys and values, and their prompts' states
  /// On a GPU alone: parts of attention, what reads the logits, CUDA's context and libraries, NCCL.
  std::uint64_t gpu = 0;
  std::uint64_t total() const { return weights + activations + kept + gpu; }
};

/// Rows of texts that grow together, each different beginning once.
struct KeptRows {
  std::int64_t prompts = 0;  ///< that run at once
  std::int64_t all = 0;      ///< whose keys and values are remembered in all layers
};

enum class Place { processor, gpu };

/// What runs at once, and where.
struct Load {
  std::int64_t batch_tokens = 0;
  KeptRows kept;
  Place place = Place::processor;
};

/// Sizes of number: 2 or 4 bytes in the body. Activations have the body's size on a GPU, float32 on the processor;
/// logits are float32.
RankMemory memory_of(const CausalSpecification& specification, std::uint64_t bytes_per_number, const Load& load,
                     int tensor_parallel);

/// Group sizes that the model can be cut into, ascending: every rank gets equally many query heads and equally wide
/// feed-forward layers, and key heads are shared out or repeated evenly. At most `most`.
std::vector<int> tensor_parallel_choices(const CausalSpecification& specification, int most = 64);

/// The smallest group whose ranks have room; nothing where even the largest is too small.
std::optional<RankMemory> smallest_group(const CausalSpecification& specification, std::uint64_t bytes_per_number,
                                         const Load& load, std::uint64_t memory_per_rank);

// Tensor parallelism: a model cut into equal slices, one per rank. Query and key heads and the feed-forward layers'
// inner numbers are shared out; what the slices of a product put out are summands of the whole.

/// Part `index` of `count`.
struct TensorSlice {
  int index = 0;
  int count = 1;
};

/// The settings of one slice: fewer heads, narrower feed-forward layers. Throws InputError with the numbers where the
/// model cannot be cut so.
CausalSpecification slice_of(const CausalSpecification& specification, TensorSlice slice);

/// First key head of a slice; with more slices than key heads several slices hold the same one.
std::int64_t first_key_head(const BodySettings& whole, TensorSlice slice);

}  // namespace stereosweep::model
