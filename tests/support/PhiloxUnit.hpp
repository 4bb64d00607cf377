// Numbers of tests, drawn by the keys of the program's permutations.
#pragma once

#include "base/Random.hpp"

namespace stereosweep::testing {

/// Uniform in [0, 1), a multiple of 2^-53.
constexpr double philox_unit(const base::DrawKey& draw) {
  return static_cast<double>(base::philox_bits(draw) >> 11U) * 0x1p-53;
}

}  // namespace stereosweep::testing
