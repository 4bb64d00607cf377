// By which of two ways a model computes: with kernels of our own, which the CPU alone has, or with torch's operators,
// which every device has. What CUDA takes can so be run, and compared, on a machine without a GPU.
#pragma once

#include <c10/core/Device.h>

#include <bit>
#include <cstdint>

namespace stereosweep::model {

/// own_kernels: straight on the numbers, CPU only. operators: torch's, on any device; flash attention on CUDA where it
/// knows the rule.
enum class Kernels { own_kernels, operators };

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
/// silu: x / (1 + e^-x).
enum class Activation { gelu, gelu_tanh, relu, silu };

}  // namespace stereosweep::model
