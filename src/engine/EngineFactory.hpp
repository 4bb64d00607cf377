// The one door to the engines: settings in, a query::Engine out. No tensor type shows here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/files/File.hpp"
#include "parallel/GpuBinding.hpp"
#include "parallel/TensorGroup.hpp"
#include "query/Compute.hpp"
#include "query/Engine.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::engine {

/// Enters the key of every block: raise it with any change that can move a bit of a raw number
/// (packing, order of sums, kernels, readout).
inline constexpr std::uint32_t numerics_version = 16;

/// Where numbers are computed.
enum class Processor { cpu, gpu };

/// What decides, beside the model's files, every bit of an answer.
struct EngineSettings {
  query::EngineKind kind = query::EngineKind::torch;
  query::Dtype dtype = query::Dtype::float32;  ///< of the model's body; the softmax is float32 or better always
  query::Device device = query::Device::automatic;
  int threads = 1;                   ///< of this process's tensor operations, at least 1
  std::int64_t batch_tokens = 1024;  ///< budget of one forward pass; a longer sequence is a batch of its own
  std::uint64_t seed = 0;            ///< of the fake engine alone
  /// Ranks that hold the model together, a slice each (causal models only); null: this rank holds all of it.
  std::shared_ptr<parallel::TensorGroup> tensor_group = nullptr;
};

/// An engine over the checkpoint in `files` (the fake one ignores them): ELMo's where there is an options
/// file and no config.json, causal where config.json names a causal family. `tokenizer` must outlive it. Sets the
/// process's number of tensor threads. Throws InputError for settings or a model that cannot be used.
std::unique_ptr<query::Engine> make_engine(const EngineSettings& settings, const base::FileSet& files,
                                           const tokenizer::Tokenizer& tokenizer);

/// Length of the vectors that the engine answers to an `Embed` like this one, whatever its text. Throws InputError for
/// a model that cannot be used, or has no such layer.
std::uint64_t vector_width(query::EngineKind kind, const base::FileSet& files, const query::Embed& asked);

/// Which torch computes, as it says itself: "2.11.0 (70d99e998), MKL 2024.2, oneDNN 3.10.2", and on the CPU the
/// instructions that it uses.
std::string torch_description(Processor processor);

/// Whether the engine would compute on a GPU if there is one: never the fake one and ELMo's. `files`: at least the
/// small ones.
bool may_use_gpu(const EngineSettings& settings, const base::FileSet& files);

/// Before any weight is read: throws InputError where the settings ask for a GPU and the rank has none, or one that is
/// too old for them.
void require_gpu(const EngineSettings& settings, const parallel::GpuBinding& gpu);

/// A line of advice where a model of this dtype leaves most of a GPU unused, else "". `capability`: 0 where the GPU is
/// not known.
std::string slow_dtype(query::Dtype dtype, int capability);

/// What the settings run on, for provenance: the processor's or the GPU's model name; "fake" for the fake engine.
std::string device_description(const EngineSettings& settings, const base::FileSet& files);

}  // namespace stereosweep::engine
