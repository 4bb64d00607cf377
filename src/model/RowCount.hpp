// How many rows a product gets on the CPU. oneDNN compiles a kernel for every new number of rows (45 ms a batch in
// bfloat16, half of what the batch itself takes), so these numbers are kept few. Rows do not mix: those that fill up
// change nothing.
#pragma once

#include <bit>
#include <cstdint>

#include "model/Kernels.hpp"

namespace stereosweep::model {

/// `count` or a little more: powers of two up to 32 (a step of generation has few rows), then multiples of 32.
inline std::int64_t filled_rows(std::int64_t count, const c10::Device& device) {
  if (kernels_on(device) == Kernels::operators) {
    return count;
  }
  return count <= 32 ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)))
                     : (count + 31) / 32 * 32;
}

}  // namespace stereosweep::model
