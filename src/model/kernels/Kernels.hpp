// Where and how a model computes. There are two ways: kernels of our own, which the CPU alone has, and torch's
// operators, which every device has. What CUDA takes can so be run, and compared, on a machine without a GPU.
#pragma once

#include <c10/core/TensorOptions.h>

#include <bit>
#include <cstdint>
#include <string>

#include "parallel/GpuBinding.hpp"
#include "query/Compute.hpp"

namespace stereosweep::model {

/// own_kernels: straight on the numbers, CPU only. operators: torch's, on any device; flash attention on CUDA where it
/// knows the rule.
enum class Kernels { own_kernels, operators };

/// What a loaded model is.
struct ModelShape {
  int num_layers = 0;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;  ///< width of the logits; without a head: rows of the word embeddings
  std::int64_t ids = 0;         ///< rows of the word embeddings: what may be put in
  std::int64_t max_tokens = 0;  ///< longest sequence
  bool has_head = false;
  Kernels kernels = Kernels::own_kernels;  ///< who computes, and should read, the numbers
  query::Dtype dtype = query::Dtype::float32;
};

/// operators on every device but the CPU; on the CPU own_kernels, or what the environment's STEREOSWEEP_KERNELS
/// (own_kernels or operators) said at the first call. Throws InputError for another word there.
Kernels kernels_on(const c10::Device& device);

/// How many rows a product gets on the CPU. oneDNN compiles a kernel for every new number of rows (45 ms a batch in
/// bfloat16, half of what the batch itself takes), so these numbers are kept few. Rows do not mix: those that fill up
/// change nothing. `count` or a little more: powers of two up to 32 (a step of generation has few rows), then multiples
/// of 32.
inline std::int64_t filled_rows(std::int64_t count, const c10::Device& device) {
  if (kernels_on(device) == Kernels::operators) {
    return count;
  }
  return count <= 32 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)))
                     : (count + 31) / 32 * 32;
}

/// A bfloat16's or a float16's bits.
enum class Bfloat16Bits : std::uint16_t {};
enum class Float16Bits : std::uint16_t {};

/// Vector instructions to use; `best` asks the processor once.
enum class Instructions { best, avx512, avx2, baseline };
bool has(Instructions instructions);

/// gelu: x * Phi(x) with the error function; gelu_tanh: its tanh approximation (gelu_new, gelu_pytorch_tanh).
/// silu: x / (1 + e^-x). clipped_silu: of gated layers alone, g / (1 + e^-1.702g) (u + 1) of a gate g of at most 7 and
/// an up u from -7 to 7 (GPT-OSS).
enum class Activation { gelu, gelu_tanh, relu, silu, clipped_silu };
inline constexpr float silu_clip = 7;
inline constexpr float silu_slope = 1.702F;

// The device that a model is loaded onto, and the type of its numbers there.

at::ScalarType scalar_type(query::Dtype dtype);
/// The Dtype of a model whose weights have this type.
query::Dtype dtype_of(at::ScalarType type);
/// Throws InputError, naming the GPU, where it is too old: torch's kernels need compute capability 7.5 (Turing),
/// bfloat16 needs 8.0 (Ampere).
void require_capable(const parallel::GpuBinding& gpu, query::Dtype dtype);
/// Dtype and device of the weights. Throws InputError where CUDA is asked for and torch sees none, or an old one.
at::TensorOptions choose_options(query::Dtype dtype, query::Device device);

// Torch's CUDA library, loaded when a device is there to use it.

/// Loads libtorch_cuda.so, which registers its kernels with the dispatcher; later calls do nothing. Its allocator gets
/// `expandable_segments` unless the environment has settings for it.
/// Throws base::Error with the loader's reason. Not part of a build without CUDA: throws there.
void load_cuda_library();

/// Whether torch sees a CUDA device. Loads the library first where the driver reports one. Must be the only way to
/// ask: torch decides at the first question whether it has CUDA. Throws Error where there is a GPU that cannot be used.
bool cuda_ready();

/// Whether the current device has what flash attention needs: compute capability 8.0 (Ampere) or newer.
bool cuda_has_flash();

/// Why cuda_ready() says no: the driver's own words.
std::string cuda_absence();

/// Fixes what the bits of a product depend on: the number of threads, MKL's code path, torch's deterministic settings.
/// Call it once, before the first operator of the process. Throws InputError for fewer than one thread.
void configure_threads(int threads);

}  // namespace stereosweep::model
