// From a tensor's dtype to the kernels' name of its numbers.
#pragma once

#include <c10/core/ScalarType.h>

#include "base/Check.hpp"
#include "model/AttentionKernel.hpp"  // Bfloat16Bits, Float16Bits

namespace stereosweep::model {

/// visit(Number{}), Number being float, Bfloat16Bits or Float16Bits.
template <class Visit>
void with_number(at::ScalarType type, Visit&& visit) {
  switch (type) {
    case at::kFloat:
      return visit(float{});
    case at::kBFloat16:
      return visit(Bfloat16Bits{});
    default:
      STEREOSWEEP_ASSERT(type == at::kHalf, "float32, bfloat16 and float16 are computed");
      return visit(Float16Bits{});
  }
}

}  // namespace stereosweep::model
